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
  [/\bgit\b/i, /\bpush\b/i, /\s-[a-z]*[fd]|--forc|--mir|--del|--prun|\s\+\S|\s:\S/i],
  [/\b(?:npm|pnpm|yarn|bun|deno|jsr|cargo|poetry|uv|gem|vsce|lerna|flit|hatch)\b/i, /\bpublish\b/i],
  /\bnpm\s+(?:pub|unpublish|login|adduser|token|owner|access|dist-tag|deprecate)\b/i,
  [/\b(?:twine|docker|podman|gem|nuget|oras)\b/i, /\b(?:push|upload)\b/i],
  /\bgh\s+(?:release|repo|secret|auth|api)\b/i,
  /\b(?:terraform|tofu|pulumi|kubectl|helm|aws|gcloud|az|fly|flyctl|vercel|netlify|wrangler)\b/i,
  // Credentials.
  /(?<![\w)\]}?!.])\.(?:ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|pgpass|env(?:rc)?)\b/i,
  /\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/(?:shadow|passwd|sudoers)|\bkeychain\b|\bsecret-tool\b/i,
  /\bssh-(?:add|keygen|copy-id)\b|\bexport-secret|\bprintenv\b|\/environ\b|\.config\/gh\b|\bgit\s+credential\b/i,
  /\$\{?\w*(?:TOKEN|SECRET|PASSWORD|API_?KEY)/,
  // A pattern that may stand for any of these folders.
  /(?<![\w)\]}?!.*])\.[a-z]{1,8}(?:\*|\?(?!\.))/i,
  // The agent's settings, and svc's.
  /(?<![\w)\]}?!.])\.(?:claude|codex|gemini|copilot|cursor|opencode|svc|mcp\.json)\b/i,
  /\bopencode\.jsonc?\b|\bconfig\/opencode\b|--dangerously|--yolo\b|\bbypassPermissions\b/i,
  // Keys for another terminal: they answer the dialogs there.
  /\b(?:send-keys|paste-buffer|respawn-pane|kill-server)\b/i,
  // Start-up files, timers and hooks: they run later, outside the agent's approvals.
  /(?<![\w)\]}?!.])\.(?:bash_?\w+|profile|xprofile|xinitrc|z(?:shrc|profile|shenv|login|logout)|husky)\b/i,
  /(?<![\w)\]}?!.])\.(?:inputrc|gitconfig|vimrc|local\/bin)\b/i,
  /\.(?:config\/(?:fish|systemd|autostart|git|nvim)|git\/(?:hooks|config))\b/i,
  /\bgit\s+(?:-\S+\s+(?:\S+\s+)?){0,3}config\b|\s-c\s*(?:core|alias|credential|filter|diff|pager|url|include)\.\S+=/i,
  /\b(?:crontab|systemctl|launchctl|loginctl|LaunchAgents|osascript)\b|\bat\s+now\b/i,
  // The machine.
  /\b(?:mkfs|fdisk|parted|dd|shred|wipefs|shutdown|reboot|halt|poweroff|iptables|nft|kill|pkill|killall)\b/i,
  /\b(?:useradd|usermod|userdel|chsh)\b|\s-v\s*\/:|--privileged\b|\/dev\/(?:tcp|udp)\//i,
  // What it runs cannot be read here.
  /\|&?\s*(?:[^\s|]*\/)?(?:sh|bash|zsh|dash|fish|ksh|python[\d.]*|perl|ruby|node|deno|php)\b/i,
  /\|&?\s*(?:[^\s|]*\/)?(?:busybox|command|env|exec|nice|nohup|setsid|stdbuf|time|timeout|xargs)\s[^|;&\n]{0,80}?\b(?:ba|z|da|k)?sh\b/i,
  /\$'[^']{0,200}\\|(?:^|[\s;&|(])\/(?:usr\/)?s?bin\/\S{0,80}[?*[]/,
  /\beval\b|\b(?:base64|base32)\b|\bxxd\b|(?:<\(|\$\(|`)\s*(?:curl|wget)\b/i,
];

/** What deletes, moves or overwrites: it may name only what is in the project. In a list of several, all of them. */
const DELETES: readonly (RegExp | readonly RegExp[])[] = [
  /\b(?:rm|rmdir|unlink|truncate|mv|cp|ln|tee|trash|chmod|chown|chgrp)\b|\bgit\s+clean\b/i,
  // Not the method of a list.
  /(?<!\.)\bfind\b(?!\()|\brsync\b|\bsed\s+-\w*i/i,
  [
    /\b(?:python[\d.]*|perl|ruby|node|deno|bun|php)\b/i,
    /\s(?:-\w*[cepr]|--eval|eval)\b/,
    /\b(?:rmtree|rm_rf|(?:rm|rmdir|unlink|remove|rename|write(?:_text|File|TextFile)?)(?:Sync)?)\b/,
  ],
];
/** A home, a variable or a way upwards: where it leads is not known here. */
const ELSEWHERE =
  /(?:^|[\s"'=:({,[<>])(?:~|\.\.(?:\/|\s|$|["']))|\/\.\.(?:\/|\s|$|["'])|\$[\w{(@*]|`|\bcd\s*(?:$|[;&|\n-])|\bHOME\b|homedir|expanduser/;
/** Where a shell's output, a patch or an agent's own tool writes. */
const WRITTEN: readonly RegExp[] = [
  />[>|]?\s*([/~$]\S*|\.\.\/\S*)/g,
  /^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): *(.+)$/gm,
];
const FIELD_OF_FILE = /^(?:file_?path|notebook_?path|path|file):\n {2}(.+)$/gim;
const FIELD_OF_CONTENT = /^(?:contents?|new_?(?:string|str|source)|edits|file_text|diff|patch):$/im;

/**
 * The request, and what a shell makes of it: quotes, backslashes, line continuations and empty variables inside a word hide
 * it from the patterns above.
 */
function readings(request: string): string[] {
  const joined = request.replace(/\\\n */g, "").replace(/\$\{IFS\}|\$IFS\b/g, " ");
  return [
    request,
    request.replace(/["'\\]/g, ""),
    joined.replace(/["'\\]/g, "").replace(/\$(?:[@*\d]|\{\w{0,40}\})/g, ""),
  ];
}

/** True for a request that only the computer may allow. */
export function isNeverAllowed(
  request: string,
  { directory, more }: { directory: string; more: readonly RegExp[] },
): boolean {
  const texts = readings(request);
  const isIn = (pattern: RegExp): boolean => texts.some((text) => pattern.test(text));
  const areIn = (one: RegExp | readonly RegExp[]): boolean =>
    one instanceof RegExp ? isIn(one) : one.every(isIn);
  if (NEVER.some(areIn) || more.some(isIn) || writesOutside(request, directory)) return true;
  const isElsewhere = (text: string): boolean =>
    pathsIn(text).some((path) => isOutside(path, directory, SCRATCH));
  return DELETES.some(areIn) && (isIn(ELSEWHERE) || texts.some(isElsewhere));
}

function writesOutside(request: string, directory: string): boolean {
  const written = FIELD_OF_CONTENT.test(request) ? [...WRITTEN.slice(1), FIELD_OF_FILE] : WRITTEN;
  const paths = written.flatMap((pattern) => [...request.matchAll(pattern)].map(([, path = ""]) => path));
  return paths.map((path) => path.replace(/["'\\]/g, "").replace(/[;&|)]+$/, "")).some((path) =>
    /^[~$]|^\.\.\//.test(path) || (path.startsWith("/") && isOutside(path, directory, SCRATCH))
  );
}

/** An absolute path, where one may begin; not the slashes of an address or of a relative path. */
const ABSOLUTE = /(?:^|[\s"'=:,(<>|&;{[@])(\/[^\s"'`,;|&<>()]*)/g;
/** Harmless, and in every other command. */
const COMMON = /^\/(?:dev\/(?:null|stdin|stdout|stderr)|(?:usr\/)?(?:local\/)?bin\/[\w.-]+|tmp\/[^.]*)$/;
/** The same where something is written or deleted: programs stay. */
const SCRATCH = /^\/(?:dev\/(?:null|stdin|stdout|stderr)|tmp\/[^.]+)$/;

function pathsIn(text: string): string[] {
  return [...text.matchAll(ABSOLUTE)].map(([, path = ""]) => path);
}

function isOutside(path: string, directory: string, harmless: RegExp): boolean {
  const isInside = path === directory || path.startsWith(`${directory}/`);
  return path.includes("/..") || (!isInside && !harmless.test(path));
}

/** The request names an absolute path that is not in the project, or a way out of it. */
export function namesOutside(request: string, directory: string): boolean {
  return pathsIn(request).some((path) => isOutside(path, directory, COMMON)) ||
    /(?:^|[\s"'=])(?:~\/|\.\.\/)/.test(request);
}
