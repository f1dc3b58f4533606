/**
 * What no phone may allow, whatever the host's configuration says: calls that destroy beyond the project, publish, take
 * other rights, read or change credentials, or change the agent's own settings. In doubt a request counts as one of them,
 * since the dialog at the computer stays. docs/security.md lists them for the user.
 */

/** Any of them, whatever the tool; in a list of several, all of them. Looked for in the whole request, in any order. */
const NEVER: readonly (RegExp | readonly RegExp[])[] = [
  // Other rights.
  /\b(?:sudo|doas|su|pkexec|runas|setfacl|visudo)\b/i,
  // Published, or lost on a remote.
  [/\bgit\b/i, /\bpush\b/i, /\s-[a-z]*f|--force|--mirror|--delete|--prune|\s\+\S|\s:\S/i],
  [/\b(?:npm|pnpm|yarn|bun|deno|jsr|cargo|poetry|uv|gem|vsce|lerna|flit|hatch)\b/i, /\bpublish\b/i],
  [/\b(?:twine|docker|podman|gem|nuget|oras)\b/i, /\b(?:push|upload)\b/i],
  /\bgh\s+(?:release|repo|secret|auth|api)\b/i,
  /\b(?:terraform|tofu|pulumi|kubectl|helm|aws|gcloud|az|fly|flyctl|vercel|netlify|wrangler)\b/i,
  // Credentials.
  /(?:^|[\s"'=/~])\.(?:ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|pgpass|env)\b/i,
  /\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/(?:shadow|passwd|sudoers)|\bkeychain\b|\bsecret-tool\b/i,
  /\bssh-(?:add|keygen|copy-id)\b/i,
  // The agent's settings, and svc's.
  /(?:^|[\s"'=/~])\.(?:claude|codex|gemini|copilot|cursor|opencode|svc|mcp\.json)\b/i,
  /\bopencode\.jsonc?\b|\bconfig\/opencode\b/i,
  // Start-up files, timers and hooks: they run later, outside the agent's approvals.
  /(?:^|[\s"'=/~])\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|husky)\b/i,
  /\.(?:config\/(?:fish|systemd|autostart)|git\/(?:hooks|config))\b|\bgit\s+config\b/i,
  /\b(?:crontab|systemctl|launchctl|loginctl)\b/i,
  // The machine.
  /\b(?:mkfs|fdisk|parted|dd|shred|wipefs|shutdown|reboot|halt|poweroff|iptables|nft|kill|pkill|killall)\b/i,
  // What it runs cannot be read here.
  /\|\s*(?:\S*\/)?(?:sh|bash|zsh|dash|fish|ksh|python[\d.]*|perl|ruby|node|deno|php)\b/i,
  /\beval\b|\b(?:base64|base32)\b|\bxxd\b|(?:<\(|\$\(|`)\s*(?:curl|wget)\b/i,
];

/** Commands that delete, move or overwrite: they may name only what is in the project. */
const DELETES: readonly RegExp[] = [
  /\b(?:rm|rmdir|unlink|truncate|mv|chmod|chown|chgrp)\b|\bgit\s+clean\b/i,
  /\bfind\b|\brsync\b/i,
];
/** A home, a variable or a way upwards: where it leads is not known here. */
const ELSEWHERE = /(?:^|[\s"'=:(])(?:~|\$\{?\w|\.\.(?:\/|\s|$|["']))|\/\.\.(?:\/|\s|$|["'])|`|\$\(/;
/** Quotes and backslashes inside a word hide it from the patterns above, and not from a shell. */
const QUOTING = /["'\\]/g;

/** True for a request that only the computer may allow. */
export function isNeverAllowed(
  request: string,
  { directory, more }: { directory: string; more: readonly RegExp[] },
): boolean {
  const texts = [request, request.replace(QUOTING, "")];
  const isIn = (pattern: RegExp): boolean => texts.some((text) => pattern.test(text));
  if (NEVER.some((one) => one instanceof RegExp ? isIn(one) : one.every(isIn)) || more.some(isIn)) {
    return true;
  }
  return DELETES.some(isIn) && (isIn(ELSEWHERE) || texts.some((text) => namesOutside(text, directory)));
}

/** An absolute path, where one may begin; not the slashes of an address or of a relative path. */
const ABSOLUTE = /(?:^|[\s"'=:,(<>|&;])(\/[^\s"'`,;|&<>()]*)/g;
/** Harmless, and in every other command. */
const COMMON = /^\/(?:dev\/(?:null|stdin|stdout|stderr)|(?:usr\/)?(?:local\/)?bin\/[\w.-]+|tmp\/[^.]*)$/;

/** The request names an absolute path that is not in the project, or a way out of it. */
export function namesOutside(request: string, directory: string): boolean {
  const paths = [...request.matchAll(ABSOLUTE)].map(([, path = ""]) => path);
  const isOutside = (path: string): boolean =>
    path !== directory && !path.startsWith(`${directory}/`) && !COMMON.test(path);
  return paths.some((path) => path.includes("/..") || isOutside(path)) ||
    /(?:^|[\s"'=])(?:~\/|\.\.\/)/.test(request);
}
