/**
 * What no phone may allow, whatever the host's configuration: calls that destroy beyond the project, publish, gain
 * other privileges, read or change credentials, or change the agent's own settings. In doubt a request counts as one of
 * them, since the dialog at the computer stays. docs/security.md lists them for the user.
 */
import { agentProfile } from "../../agents/profiles.ts";
import { AGENT_KINDS } from "../../agents/registry.ts";
import { breather, systemClock } from "../../async/clock.ts";
import {
  asCommands,
  DELETES_RUN,
  kindOf,
  NEVER_RUN,
  type RequestKind,
  TRUNCATES,
  withPlainLists,
  WRITTEN_BY_RUN,
} from "./never_run.ts";

const AGENT_SETTINGS = AGENT_KINDS.flatMap((kind) => agentProfile(kind).offLimits.settings);

/**
 * Any entry is enough, whatever the tool; in an entry that is a list, all patterns must match. The whole request is
 * searched, in any order.
 */
const NEVER: readonly (RegExp | readonly RegExp[])[] = [
  // Other privileges.
  /\b(?:sudo|doas|su|pkexec|runas|setfacl|visudo)\b/i,
  // Published, or lost on a remote.
  [/\bgit\b/i, /\bpush\b/i, /\s-[a-z]*[fd]|--forc|--mir|--del|--prun|\s\+\S|\s:\S/i],
  [/\bgit\b/i, /\bpush\b[^;&|\n]{0,200}(?::\/\/|@[\w.-]{1,100}:)/i],
  /\bgit\s+remote\s+(?:add|set-url)\b/i,
  [/\b(?:npm|pnpm|yarn|bun|deno|jsr|cargo|poetry|uv|gem|vsce|lerna|flit|hatch)\b/i, /\bpublish\b/i],
  /\bnpm\s+(?:pub|unpublish|login|adduser|token|owner|access|dist-tag|deprecate)\b/i,
  [/\b(?:twine|docker|podman|gem|nuget|oras)\b/i, /\b(?:push|upload)\b/i],
  /\bgh\s+(?:release|repo|secret|auth|api|gist|(?:workflow|run)\s+(?!list|view|watch)|variable|ssh-key|gpg-key|pr\s+merge)\b/i,
  /\b(?:nc|ncat|netcat|socat|sftp|scp|ftp|rclone|s3cmd|gsutil)\s/i,
  [/\brsync\b/i, /\s[\w.@-]{1,100}:\S/],
  [
    /\bcurl\b/i,
    /\s(?:-\w{0,20}[dF]|--(?:data|form|json)[\w-]{0,20})[=\s]*\S{0,100}@|\s-\w{0,20}T\b|--upload-file\b/,
  ],
  [/\bwget\b/i, /--(?:post|body)-(?:file|data)\b/i],
  // Another machine.
  /(?<![\w./-])(?:ssh|mosh|telnet|rsh|rlogin|plink|sshpass|autossh)\s+(?!-V\b)\S/i,
  /(?<![\w.-]|(?<!\bbin)\/)(?:terraform|tofu|pulumi|kubectl|helm|aws|gcloud|az|fly|flyctl|vercel|netlify|wrangler)(?![\w/.-])/i,
  // Credentials.
  /(?<![\w)\]}?!.])\.(?:ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|pgpass|env(?:rc)?(?!\.(?:example|sample|template)\b))\b/i,
  /\bid_(?:rsa|dsa|ed25519|ecdsa)\b|\/etc\/(?:shadow|passwd|sudoers)|\bkeychains?\b|\bsecret-tool\b/i,
  /\.(?:pem|p12|pfx|jks|kdbx)\b|\bdocker\.sock\b|\.mozilla\b|\bLogin Data\b/i,
  /\.config\/(?:gcloud|op|rclone|hub|chromium|google-chrome|BraveSoftware)\b/i,
  /\bsecurity\s+(?:find|dump)-|\bpass\s+show\b|\bop\s+(?:read|item)\b|\bvault\s+(?:kv|read)\b|\bbw\s+get\b/i,
  /(?:^|[;&|(\n])[ \t]*(?:env|export -p|declare -x|set)[ \t]*(?:$|[|>;&\n])/i,
  /\bssh-(?:add|keygen|copy-id)\b|\bexport-secret|\bprintenv\b|\/environ\b|\.config\/gh\b|\bgit\s+credential\b/i,
  /\$\{?\w*(?:TOKEN|SECRET|PASSWORD|API_?KEY)/,
  // A glob that may match any of these folders.
  /(?<![\w)\]}?!.*])\.[a-z]{1,8}(?:\*|\?(?!\.))/i,
  // The agents' settings, and svc's; not a property such as `options.codex`.
  new RegExp(`(?:(?<![\\w)\\]}?!.])|(?<=[)\\]}?!.])\\b)(?:${AGENT_SETTINGS.join("|")})\\b`, "i"),
  /(?<![\w)\]}?!.])\.mcp\.json\b|--dangerously|--yolo\b|\bbypassPermissions\b/i,
  // Keys for another terminal: they answer the dialogs there.
  /\b(?:send-keys|paste-buffer|respawn-pane|kill-server)\b/i,
  // Start-up files, timers and hooks: they run later, outside the agent's approvals.
  /(?<![\w)\]}?!.])\.(?:bash_?\w+|profile|xprofile|xinitrc|z(?:shrc|profile|shenv|login|logout)|husky)\b/i,
  /(?<![\w)\]}?!.])\.(?:inputrc|gitconfig|vimrc|local\/bin)\b/i,
  /\.(?:config\/(?:fish|systemd|autostart|git|nvim)|git\/(?:hooks|config))\b/i,
  /\bgit\s+(?:-\S+\s+(?:\S+\s+)?){0,3}config\b|\s-c\s*(?:core|alias|credential|filter|diff|pager|url|include)\.\S+=/i,
  /\b(?:crontab|systemctl|launchctl|loginctl|LaunchAgents|osascript)\b|\bat\s+now\b/i,
  // The machine. Words that also occur in prose count only in the form of a command.
  /\b(?:mkfs|fdisk|parted|shred|wipefs|poweroff|iptables|nft|pkill|killall|nsenter|chroot|insmod|modprobe|setcap)\b/i,
  /\bdd\s+\w{1,10}=|\bmount\s+[-/]|\bsysctl\s+-w|\bsystemd-run\b/i,
  /\bkill\s+[-\d%$`({"'<]|\bkill[ \t]*$|\bxargs\b[^;&|\n]{0,200}\bkill\b|\bkill\b[^;&|\n]{0,40}<<</im,
  /\bshutdown\s+(?:[-+\d]|now)|(?:^|[;&|(\n])[ \t]*(?:shutdown|reboot|halt)\b/i,
  /\bdocker\s+(?:system|volume|image|container|network|builder)\s+(?:prune|rm)\b/i,
  [
    /\b(?:python[\d.]*|perl|ruby|node|deno|bun|php)\b/i,
    /\s(?:-\w*[cepr]|--eval|eval)\b/,
    /\b(?:kill|killpg)\s*[(,]/,
  ],
  /\b(?:useradd|usermod|userdel|chsh)\b|\s-v\s*\/:|--privileged\b|\/dev\/(?:tcp|udp)\//i,
  // Code that cannot be read here.
  /\|&?\s*(?:[^\s|]*\/)?(?:sh|bash|zsh|dash|fish|ksh|python[\d.]*(?!\s+-m\s+json\.tool(?![\w.]))|perl|ruby|node|deno|php)\b/i,
  /\|&?\s*(?:[^\s|]*\/)?(?:busybox|command|env|exec|nice|nohup|setsid|stdbuf|time|timeout|xargs)\s[^|;&\n]{0,80}?\b(?:ba|z|da|k)?sh\b/i,
  /\$'[^']{0,200}\\|(?:^|[\s;&|(])\/(?:usr\/)?s?bin\/\S{0,80}[?*[]/,
  /\beval\b|\b(?:base64|base32)\b|\bxxd\b|(?:<\(|\$\(|`)\s*(?:curl|wget)\b/i,
  // Fetched, then run.
  [
    /\b(?:curl|wget|aria2c|axel|git\s+clone)\b/i,
    /(?<![\w./-])(?:source|chmod|install|python[\d.]*(?![ \t]+-m[ \t]+json\.tool(?![\w.]))|perl|ruby|node|deno|bun|php|pwsh|(?:ba|z|da|k|fi|a|c|tc)?sh)[ \t]+[^\s>|&;]/i,
  ],
  [/\b(?:curl|wget|aria2c|axel|git\s+clone)\b/i, /(?:^|[;&|({`\n])[ \t]*(?:\.\s+\S|(?:~|\.{0,2})\/\S)/],
  /\b(?:npm|pnpm|yarn|bun|pip[\d.]*|uv|cargo|go|gem|deno|npx)\b[^\n;&|]{0,120}\s["']?(?:git\+|github:|https?:|--git\b)/i,
  /\bnpx\s+(?:-y|--yes)\b|\b(?:pnpm|yarn)\s+dlx\b|\b(?:bunx|uvx|pipx)\s|\bgo\s+run\s+\S{1,200}@/i,
  // Changes for all projects of this account.
  [/\b(?:npm|pnpm|yarn|bun)\b/i, /\s(?:-g|--global)\b|\bglobal\s+add\b|\b(?:config\s+)?set\s+\S/i],
  // Work that is in no commit, and commits that nothing names anymore.
  [
    /\bgit\b/i,
    /\bclean\s+-\w{0,10}[fdx]|\breset\s+(?:\S+\s+){0,3}--hard\b|\bstash\s+(?:drop|clear)\b|\bbranch\s+-D\b/,
  ],
  [/\bgit\b/i, /\b(?:checkout|restore)\s+(?:-\S+\s+){0,3}(?:\.|:\/|\*)(?=\s|[;&|)]|$)|\bcheckout\s+-f\b/m],
  [
    /\bgit\b/i,
    /\breflog\s+(?:expire|delete)\b|\bupdate-ref\s+-d\b|\bfilter-(?:branch|repo)\b|--prune=now\b/i,
  ],
  // The whole project.
  /\bfind\s+(?:\.\/?\s+)?-delete\b|\b(?:rmtree|rm_rf|rmSync|rm|remove|removeSync)\(\s*["']?(?:\.?\/?|\*)["']?\s*[,)]/,
];

/** Refused in commands too, but not in a file's content: a variable in place of the program. */
const NEVER_IN_COMMANDS = /(?:^|[;&|(\n])[ \t]*\$(?:\w+|\{\w+\})\s+\S/;

/**
 * Commands that delete, move or overwrite: they may name only what is in the project. In an entry that is a list, all
 * patterns must match.
 */
const DELETES: readonly (RegExp | readonly RegExp[])[] = [
  /(?<!--)\b(?:rm|rmdir|unlink|truncate|mv|cp|ln|tee|trash|chmod|chown|chgrp)\b/i,
  /\b(?:tar|bsdtar|gtar|unzip|cpio|7z[az]?|install|patch|touch|mkdir)\b/i,
  // Not the `find` method of a list.
  /(?<!\.)\bfind\b(?!\()|\brsync\b|\bsed\s+-\w*i/i,
  [
    /\b(?:python[\d.]*|perl|ruby|node|deno|bun|php)\b/i,
    /\s(?:-\w*[cepr]|--eval|--print|eval)\b|<</,
    /\b(?:rmtree|rm_rf|rm_r|file_put_contents|createWriteStream|(?:rm|rmdir|unlink|remove|rename|move|cp|copy\w{0,6}|write(?:_text|File|TextFile)?)(?:Sync)?)\b/,
  ],
];
/** A home, a variable or a path upwards: it is not known here where it leads. */
const ELSEWHERE =
  /(?:^|[\s"'=:({,[<>])(?:~|\.\.(?:[/\s;&|)"']|$))|\/\.\.(?:[/\s;&|)"']|$)|\$[\w{(@*]|`|\bcd\s*(?:$|[;&|\n-])|\bHOME\b|homedir|expanduser|\.home\(/;
/** Files to which a patch writes. */
const WRITTEN = /^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): *(.+)$/gm;
const FIELD_OF_FILE = /^(?:file_?path|notebook_?path|path|file):\n {2}(.+)$/gim;

/**
 * The request as it is, and as a shell reads it: quotes, backslashes, line continuations and empty variables inside a
 * word hide it from the patterns above.
 */
function readings(request: string, runs: boolean): string[] {
  const read = runs ? withPlainLists(request) : request;
  const joined = read.replace(/\\\n */g, "").replace(/\$\{IFS\}|\$IFS\b/g, " ");
  const commands = runs ? asCommands(request) : undefined;
  return [
    request,
    read.replace(/["'\\]/g, ""),
    joined.replace(/["'\\]/g, "").replace(/\$(?:[@*\d]|\{\w{0,40}\})/g, ""),
    ...(commands === undefined ? [] : [commands]),
    ...(runs && STARTS.test(request) ? [request.replace(STARTED, startedInLine)] : []),
  ];
}

/** An interpreter, and a program with its arguments as strings in its code: in a call, or in a list that has a name. */
const STARTS = /\b(?:python[\d.]*|perl|ruby|node|deno|bun|php)\b/;
const STARTED = /(?:[(=]\s{0,8}\(?|\b(?:system|exec)[ \t]{1,8})((?:\[\s{0,8})?["'][^()\n]{1,400})/g;

/** The words as a line, and those of a list in them as another one, which may repeat the program's name. */
function startedInLine(found: string, words: string): string {
  const [, list = ""] = /["'],\s{0,8}\[(.*)/.exec(words) ?? [];
  const [line, own] = [words, list].map((text) => text.replace(/["'`[\],\s]+/g, " "));
  return `${found.slice(0, found.length - words.length)}\n${line}\n${own}`;
}

interface Judging {
  directory: string;
  /** Further patterns of the host. */
  more: readonly RegExp[];
  /** Called between patterns, so that a long request does not block other work. */
  breathe?(): Promise<void>;
}

/** True for a request that may be allowed only at the computer. */
export async function isNeverAllowed(
  request: string,
  { directory, more, breathe = breather(systemClock) }: Judging,
): Promise<boolean> {
  const kind = kindOf(request);
  const { runs } = kind;
  const never = new Entries([...NEVER, ...(runs ? [...NEVER_RUN, NEVER_IN_COMMANDS] : [])], breathe);
  const deletes = new Entries([...DELETES, ...(runs ? DELETES_RUN : [])], breathe);
  if (more.some((pattern) => pattern.test(request))) return true;
  const isLong = request.length > PART_CHARS;
  let leadsElsewhere = false;
  for (const part of partsOf(request)) {
    const texts = [...new Set(readings(part, runs))];
    const isIn = (pattern: RegExp): boolean => texts.some((text) => pattern.test(text));
    if (more.some(isIn) || writesOutside(part, { directory, ...kind })) return true;
    if (isLong && runs && isPadded(part)) return true;
    if (texts.some((text) => deletesAll(text, directory)) || await never.areMetBy(texts)) return true;
    leadsElsewhere ||= texts.some((text) => isElsewhere(isLong ? text : withKnownValues(text), directory));
    if (await deletes.areMetBy(texts) && leadsElsewhere) return true;
  }
  return false;
}

/** Which entries of a list a request matches, part by part. */
class Entries {
  /** For each entry, the patterns that nothing has matched yet. */
  readonly #left: Set<RegExp>[];
  readonly #breathe: () => Promise<void>;
  #areMet = false;

  constructor(entries: readonly (RegExp | readonly RegExp[])[], breathe: () => Promise<void>) {
    this.#left = entries.map((entry) => new Set(entry instanceof RegExp ? [entry] : entry));
    this.#breathe = breathe;
  }

  /** True once all patterns of one entry were in this part or an earlier one. */
  async areMetBy(texts: readonly string[]): Promise<boolean> {
    for (const patterns of this.#areMet ? [] : this.#left) {
      for (const pattern of patterns) {
        if (texts.some((text) => pattern.test(text))) patterns.delete(pattern);
      }
      if (patterns.size === 0) return this.#areMet = true;
      await this.#breathe();
    }
    return this.#areMet;
  }
}

/** A longer request is read in parts of this length. */
const PART_CHARS = 32_768;
/** How far each part overlaps the next one: any text up to this length is whole in one of them. */
const OVERLAP_CHARS = 8_192;
/** A part is extended to the whole of its first and last line, by at most this much. */
const LINE_CHARS = 1_024;

function* partsOf(request: string): Generator<string> {
  if (request.length <= PART_CHARS) return yield request;
  for (let at = 0; at < request.length; at += PART_CHARS - OVERLAP_CHARS) {
    const begin = Math.max(0, at - LINE_CHARS);
    const end = at + PART_CHARS;
    const line = request.slice(begin, at).lastIndexOf("\n");
    const rest = request.slice(end, end + LINE_CHARS).indexOf("\n");
    yield request.slice(line < 0 ? at : begin + line + 1, end + Math.max(0, rest));
  }
}

/** What a shell drops, or takes for one blank. */
const DROPPED = /(?:["'\\\s]|\$[@*\d]|\$\{\w{0,40}\})+/g;
/** With more of it in one place, no single part may hold what is before and after it. */
const DROPPED_MAX_CHARS = 1_024;

function isPadded(part: string): boolean {
  return Array.from(part.matchAll(DROPPED)).some(([dropped]) => dropped.length > DROPPED_MAX_CHARS);
}

function isElsewhere(text: string, directory: string): boolean {
  return ELSEWHERE.test(text) ||
    pathsIn(text).some((path) => isOutside(path, directory, SCRATCH));
}

/** Replaces variables to which a loop or an assignment gives a path in the project, unless a `/` follows. */
function withKnownValues(text: string): string {
  let known = text;
  for (const [, loop, words, given, path] of [...text.matchAll(GIVEN)].slice(0, GIVEN_MAX)) {
    const [name, value] = [loop ?? given ?? "", words ?? path ?? ""];
    const isPath = value.trim() !== "" &&
      value.trim().split(/\s+/).every((word) => /^(?![-/~])[\w./*?-]+$/.test(word));
    const mentions = text.match(new RegExp(`(?<![$\\w{])${name}(?!\\w)`, "g"))?.length;
    if (!isPath || /(?:^|\/)\.\.?(?:\/|$)|^[.*?]+$/m.test(value.trim()) || mentions !== 1) continue;
    const use = new RegExp(`\\$(?:${name}(?!\\w)|\\{${name}(?:%{1,2}\\.\\w{1,20})?\\})(?!["']?/)`, "g");
    known = known.replace(use, "known");
  }
  return known;
}
/** How many variables are followed. */
const GIVEN_MAX = 8;
/** `for name in words` and `name=word`, each as a separate command. */
const GIVEN =
  /(?:^|[;\n])[ \t]*(?:for[ \t]+([A-Za-z_]\w{0,40})[ \t]+in[ \t]+([^;&|\n$`"'\\]{1,500})(?=[;\n])|([A-Za-z_]\w{0,40})=([^\s;&|$`"'\\]{1,200})(?=[ \t]*(?:;|\n|&&)))/g;

/** The longest command that is judged: the rest of a longer one may be in another part. */
const DELETED_MAX_CHARS = 8_000;

/** `sed` that deletes every line of the files it is given. */
const EMPTIES =
  /\bsed\s+(?:-\S{1,40}\s+){0,4}?(?:-\w{0,8}i|--in-place)\S{0,20}\s+(?:-\S{1,40}\s+){0,4}["']?(?:1,\$)?d["']?\s/;

/** True if it removes the project itself or everything in it, or what another program names. */
function deletesAll(text: string, directory: string): boolean {
  return text.split(/[;&|\n()`]/).some((command) => {
    const isOne = /(?<!--)\b(?:rm|rmdir|trash|unlink)\b/i.test(command) || TRUNCATES.test(command);
    if (!isOne && !EMPTIES.test(command)) return false;
    if (/\bxargs\b/.test(command) || command.length > DELETED_MAX_CHARS) return true;
    return command.split(/[\s,{}]+/).some((word) => isWhole(word, directory));
  });
}

function isWhole(word: string, directory: string): boolean {
  const own = word.startsWith(directory) ? `.${word.slice(directory.length)}` : word;
  const rest = own.replace(/^(?:\.\/+)+(?=.)/, "").replace(/(?<!\/)\/+\.?$/, "");
  if (rest === "." || (rest === "" && own !== "")) return true;
  return /^[.*?!/]+$/.test(rest.replace(/\[[^\]]{0,20}\]/g, "")) && /[*?]/.test(rest);
}

function writesOutside(
  request: string,
  { directory, runs, hasContent }: RequestKind & { directory: string },
): boolean {
  const written = [WRITTEN, ...(runs ? WRITTEN_BY_RUN : []), ...(hasContent ? [FIELD_OF_FILE] : [])];
  const paths = written.flatMap((pattern) => [...request.matchAll(pattern)].map(([, path = ""]) => path));
  return paths.map((path) => path.replace(/["'\\]/g, "").replace(/[;&|)]+$/, "")).some((path) =>
    /^[~$]|^\.\.(?:\/|$)|\/\.\.\//.test(path) || (path.startsWith("/") && isOutside(path, directory, SCRATCH))
  );
}

/** An absolute path, where one may begin; not the slashes of an address or of a relative path. */
const ABSOLUTE = /(?:^|[\s"'=,(<>|&;{[@]|:(?!\/\/\w))(\/[^\s"'`,;|&<>()]*)/g;
/** Harmless paths that many commands name. */
const COMMON = /^\/(?:dev\/(?:null|stdin|stdout|stderr)|(?:usr\/)?(?:local\/)?bin\/[\w.-]+|tmp\/[^.]*)$/;
/** Harmless paths to write to or delete, so no programs. */
const SCRATCH = /^\/(?:dev\/(?:null|stdin|stdout|stderr)|tmp\/[^.]+)$/;

function pathsIn(text: string): string[] {
  return [...text.matchAll(ABSOLUTE)].map(([, path = ""]) => path);
}

function isOutside(path: string, directory: string, harmless: RegExp): boolean {
  const isInside = path === directory || path.startsWith(`${directory}/`);
  return path.includes("/..") || (!isInside && !harmless.test(path));
}

/** True if the request names an absolute path outside the project, or a way out of it. */
export function namesOutside(request: string, directory: string): boolean {
  return pathsIn(request).some((path) => isOutside(path, directory, COMMON)) ||
    /(?:^|[\s"'=])(?:~\/|\.\.\/)/.test(request);
}
