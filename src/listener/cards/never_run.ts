/** What no phone may allow to run. A file's new content may mention any of it: these patterns skip it. */
import { agentProfile } from "../../agents/profiles.ts";
import { AGENT_KINDS } from "../../agents/registry.ts";
import type { AgentKind } from "../../protocol/names.ts";

/** What starts the program after it. */
const LAUNCHER =
  "(?:if|elif|while|until|coproc|trap|env|exec|time|command|nohup|nice|ionice|chrt|timeout|setsid|stdbuf|watch|" +
  "flock[ \\t]+[^\\s;&|]{1,40}|taskset|chronic|unbuffer|caffeinate|parallel|entr|xargs|bundle[ \\t]+exec|" +
  `(?:uv|poetry|pipenv|pdm)[ \\t]+run|git[ \\t]+(?:bisect[ \\t]+run|submodule[ \\t]+foreach))[ \\t]+["']?`;
/** A variable that is set, or a redirection, in front of a program. */
const BEFORE = "(?:[A-Za-z_]\\w{0,40}=(?:\"[^\"\\n]{0,400}\"|'[^'\\n]{0,400}'|[^\\s;&|\"']){0,400}|" +
  "\\d?[<>]{1,2}(?:&\\d|[ \\t]{0,4}[^\\s;&|<>]{1,400}))[ \\t]+";
/**
 * An option of a program that starts another one, with its value if that is a separate word, or a number. No text can be
 * matched in two ways, of which a hostile request could make very many.
 */
const OPTION =
  `(?:-[^\\s;&|]{0,40}[ \\t]+(?:(?!${LAUNCHER}|\\w{0,41}=)[^\\s;&|\\d<>-][^\\s;&|]{0,40}[ \\t]+)?|\\d[^\\s;&|<>]{0,20}[ \\t]+)`;

/** Where a shell looks for a program. */
const PROGRAM =
  "(?:^|[;&|({!`]|<<<[ \\t]{0,4}[\"']?|\\s-\\w{0,8}c\\s|\\b(?:then|do|else|exec|env|time|nohup|xargs|command|npx|bunx)\\s)" +
  `[ \\t]*(?:${LAUNCHER}${OPTION}{0,6}|${BEFORE}){0,8}(?:[/.~][^\\s;&|(){}]{0,200}/)?`;

/** Matches these programs. Each name holds patterns separated by spaces. */
function programs(...names: readonly string[]): RegExp {
  return new RegExp(`${PROGRAM}(?:${names.join(" ").replaceAll(" ", "|")})(?![\\w.-])`, "m");
}

/** Arguments that change the settings or approvals of any agent, as regular expressions. */
const CHANGING = ["mcp", "config", "plugin", "--full-auto", "--allow-all\\S*", "-y"];

/** Matches an agent that changes settings, or runs where no terminal shows its questions. */
function agentAlone(kind: AgentKind): RegExp {
  const { binary, npmPackage = binary, offLimits } = agentProfile(kind);
  const { options = [], subcommands = [] } = offLimits;
  const agent = `(?:${[...new Set([binary, npmPackage.replace(/^.*\//, "")])].join("|")})`;
  const words = [...CHANGING, ...options].join("|");
  const withWord = `\\b${agent}\\s(?:[^\\n;&|]{0,80}\\s)?(?:${words})(?![\\w.-])`;
  if (subcommands.length === 0) return new RegExp(withWord);
  const asProgram = programs(...subcommands.map((word) => `${agent}\\s+(?:${word})`));
  return new RegExp(`${withWord}|${asProgram.source}`, "m");
}

/** `git`, its subcommand, and up to eight words after it, as the beginning of a pattern. */
const git = (subcommand: string, rest: string): RegExp =>
  new RegExp(
    `\\bgit\\s[^\\n;&|]{0,80}?(?<=\\s)${subcommand}[ \\t]+(?:[^\\s;&|]{1,100}[ \\t]+){0,8}?${rest}`,
    "m",
  );

/** Where a word ends. */
const END = "(?=\\s|[;&|)`]|$)";

/** Settings that name a program, by the last part of their names. */
const PROGRAM_SETTINGS =
  "program|editor|cmd|command|driver|tool|helper|diffFilter|vcs|uploadPack|receivePack|packObjectsHook|templateDir|" +
  "hooksPath|sshCommand|fsmonitor|askPass|pager|textconv|clean|smudge|process|external|gitProxy|smtpServer|ext\\.allow";

/** Programs that send a database what they are given. */
const DATABASE =
  /\b(?:psql|mysql|mariadb|mongosh?|(?:redis|valkey)-cli|sqlite3|duckdb|clickhouse(?:-client)?|cqlsh|sqlcmd|sqlplus|mysqlsh|pgcli|mycli|usql|cockroach)\b/;

/** Programs that build or run what is in the folder. */
const BUILDS =
  /(?:^|[;&|({`\n])[ \t]*(?:make|ninja|cmake|rake|just|gradlew?|mvnw?|tox|(?:npm|pnpm|yarn|bun)\s+(?:i|ci|install|run|start|test)|(?:cargo|go)\s+(?:run|build|test|install|generate)|pip[\d.]*\s+install|docker[\s-](?:build|compose))(?![\w-])/i;

/** Any entry is enough to refuse a request; in an entry that is a list, all patterns must match. */
export const NEVER_RUN: readonly (RegExp | readonly RegExp[])[] = [
  // Other privileges, and the machine.
  programs(
    "run0 sudoedit gosu su-exec setpriv newgrp sg unshare passwd chpasswd adduser deluser group(?:add|mod|del)",
    "chattr umount ufw mke2fs sgdisk blkdiscard badblocks wipe cryptsetup (?:lv|vg|pv)remove zfs zpool rmmod xkill",
    "ifconfig nmcli hostnamectl timedatectl initctl batch pacman\\s+-R\\w* defaults\\s+write dpkg\\s+-[rP]",
    "(?:tel)?init\\s+[0-6] (?:rc-)?service\\s+\\S+\\s+(?:re|st)\\w+ ip\\s+(?:link|route|addr)",
    "(?:apt|apt-get|yum|dnf|brew|snap)\\s+(?:-\\S+\\s+)?(?:remove|purge|uninstall|autoremove)",
  ),
  /\bchmod\b[^\n;&|]{0,80}(?:\+\w{0,3}s|\s[2467]\d{3}\b)/,
  [
    /\b(?:docker|podman|nerdctl)\b/,
    /--(?:pid|net|network|ipc|userns)[\s=]host\b|--cap-add|--device\b|\bDOCKER_HOST=/,
  ],
  /\b(?:docker|podman|nerdctl)\b[^\n;&|]{0,80}\s(?:login|context\s+use|system\s+reset|rm\s+-\w*[fv]|down\b[^\n]{0,80}\s(?:-v\b|--volumes))/,
  programs(
    "(?:docker|podman|nerdctl)\\s+(?:-\\S+\\s+(?:\\S+\\s+)?){0,3}?(?:(?:container|image)\\s+)?(?:kill|stop|rmi?|restart|pause)",
  ),
  /(?:^|[\s;&|])([^\s(){};|&]{1,40})[ \t]{0,8}\(\)\s{0,8}\{[^{}\n]{0,200}\1[ \t]{0,8}\|[ \t]{0,8}\1[ \t]{0,8}&|\bfork\s+while\s+fork\b/,
  /\s--(?:security-opt[=\s]\S{0,40}(?:unconfined|disable)|(?:uts|cgroupns)[=\s]host|volumes-from)\b/,
  programs(
    "(?:docker|podman|nerdctl)\\s+(?:stack|service|swarm|buildx|pod|machine|node)\\s+(?:rm|remove|leave|prune|stop|kill|down|reset)",
    "(?:docker|podman)[\\s-]compose\\s+(?:-\\S+\\s+(?:\\S+\\s+)?){0,3}?(?:rm|kill) lxc-(?:stop|destroy)",
    "(?:lxc|incus|virsh|vagrant|minikube|multipass|colima|kind|k3d)\\s+(?:delete|destroy|undefine)",
  ),
  // Another machine.
  /\bbin\/(?:ssh|mosh|telnet|rsh|rlogin|plink|sshpass|autossh)\s+(?!-V\b)\S/,
  programs(
    "(?:docker|podman)\\s+(?:-\\S+\\s+){0,3}?(?:-H|--host|--context|--url|--connection)[=\\s]\\s*\\S+",
  ),
  programs("openssl\\s+s_(?:client|server) gh\\s+(?:codespace|cs)\\s+(?:ssh|cp|delete|stop|create)"),
  // Published.
  /\bnpm\s+(?:publi?s?|profile|hook|team|org)(?!\S)|\b_auth(?:Token)?\b/i,
  /\b(?:cargo|gem)\s+(?:yank|login|signin|owner)\b|\bsetup\.py\b[^\n]{0,200}\bupload\b/,
  /\b(?:mvnw?|gradlew?|sbt|lein)\b[^\n;&|]{0,200}\b(?:deploy|publish\w*)/i,
  /\b(?:buildah|skopeo|crane|regctl)\s+(?:push|copy|cp|sync)\b|\bgit\b[^\n;&|]{0,80}--config-env\b/,
  /\b(?:semantic-release|release-it|goreleaser|(?:changeset|ovsx)\s+publish|cargo\s+release|npx\s+np)(?![\w.-])/,
  programs(
    "(?:maturin|pdm|rye|opam|expo|ko)\\s+publish mix\\s+hex\\.publish pod\\s+trunk eas\\s+submit fastlane",
    "(?:flutter|dart)\\s+pub\\s+(?:publish|lish) (?:stack|cabal|luarocks|anaconda)\\s+upload surge gh-pages",
  ),
  [
    /\b(?:python[\d.]*|node|deno|bun|ruby|perl|php)\b[^\n]{0,80}(?:\s(?:-\w*[cepr]|--eval|--print|eval)\b|<<)/,
    /\burlopen\b|\brequests\.(?:post|put|patch)\b|\bNet::HTTP\b|\bfetch\s*\(|\bhttps?\.request\b|\bIO::Socket\b|\bfile_get_contents\s*\(\s*["']?https?:/,
    /\bopen\s*\(|\bread_?(?:text|bytes|file)\w*\s*\(|\b(?:File|IO)\.read\b|\bfile_get_contents\s*\(/i,
  ],
  // Clouds, clusters, tunnels and databases.
  programs(
    "oc terragrunt cdk sam serverless sls heroku firebase supabase railway doctl linode-cli hcloud eksctl bq",
    "k9s kustomize istioctl cdktf sst eb",
    "mc ansible(?:-\\w+)? glab hub dropdb ngrok cloudflared",
    "amplify nomad consul chef-client puppet packer\\s+build cap\\s+\\w+\\s+deploy dokku",
  ),
  /\b(?:psql|mysql|mariadb|mongosh?|redis-cli)\b[^\n]{0,400}\b(?:drop\w*|truncate|flush\w*|delete)\b/i,
  [
    DATABASE,
    /\b(?:drop\s+(?:table|database|schema|keyspace|view|owned|user|role)|truncate\s+\w|delete\s+from|flush(?:all|db))\b|\b(?:dropDatabase|deleteMany)\b|\.(?:drop|remove)\(/i,
  ],
  /\bmysqladmin\b[^\n;&|]{0,200}\sdrop\b|\bpg_restore\b[^\n;&|]{0,200}\s(?:--clean|-\w*c)\b|\bprisma\s+migrate\s+reset\b|\s--(?:force-reset|accept-data-loss)\b/,
  /\b(?:db|schema):(?:drop|reset|wipe|purge)\b|\bmigrate:(?:fresh|reset|refresh)\b|\bmanage\.py\s+(?:flush|reset_db)\b/,
  // Credentials.
  /\.(?:vault-token|my\.cnf|terraformrc|sentryclirc|password-store|keystore|ppk|tfstate|tfvars)\b|\.(?:gem|subversion|composer|m2|gradle)\/(?:credentials|auth|settings|gradle\.properties)|\.(?:yarnrc|config\/solana)\b/,
  // A glob that may match any of their files.
  /(?<![\w)\]}?!.*])\.(?:[a-z]{0,8}\[[a-z!^][^\]\s]{0,10}\][a-z]|[a-z]{1,8}\[[a-z!^][^\]\s]{0,10}\](?=\s|$))/m,
  programs("vault doppler pass\\s+(?:insert|edit|rm|git)"),
  programs(
    "gopass keyring\\s+get gpg2?\\s+(?:\\S+\\s+){0,4}?(?:-d|--decrypt|--export-secret\\S*)",
    "r?age\\s+(?:\\S+\\s+){0,4}?(?:-d|--decrypt)",
  ),
  /(?:^|[;&|(])[ \t]*(?:export|(?:declare|typeset)(?:[ \t]+-[px]+)?|compgen[ \t]+-[ev])[ \t]*(?:$|[|>;&)])/m,
  [
    /\b(?:ruby|perl|php)\s+-\w*[er]/,
    /\bENV\b(?!\s*(?:\[|\{|\.fetch|\.key))|%ENV\b|\bgetenv\(\s*\)|\$_(?:ENV|SERVER)\b(?!\s*\[)|\bphpinfo\b/,
  ],
  /\bENVIRON\b(?!\s*\[\s*["'])|\bjq\b[^\n;&|]{0,200}(?:\$ENV\b(?!\.\w)|(?<![.\w"])env\b(?!\.\w))/,
  /\$\{?\w*(?:(?:ACCESS|PRIVATE|SIGNING|ENCRYPTION)_KEY|PASSWD|PASSPHRASE|_PASS|_PAT)\b/,
  [/\b(?:node|bun|tsx|python[\d.]*)\s+-/, /\bprocess\.env(?!\s*[\w.?[])|\bos\.environ(?!\s*[\w.[])/],
  /\b(?:process\.env|environ(?:\.get)?|getenv)[.["'(]{1,4}\w*(?:TOKEN|SECRET|PASSWORD|API_?KEY)/,
  /\.\w*_history\b|\bkeyrings\b|\.htpasswd\b|\b(?:credentials?|secrets?|service-?account[\w-]*)\.(?:json|ya?ml|toml|db)\b/,
  /(?<=[\s/"'=])[\w-]+\.key(?=[\s"']|$)|\$\{?\w*(?:DATABASE_URL|CREDENTIALS)|\bps\s+[a-z]{0,8}e/m,
  // Keys for another terminal, and the settings of the agents and of svc.
  programs(
    "tmux\\s+(?:\\S+\\s+){0,8}?(?:send|pipe|paste|respawn|run|source|if-shell|kill|set-hook|load|command)[\\w-]*",
  ),
  programs("swapo(?:n|ff) route\\s+(?:add|del) date\\s+(?:-s|--set)\\S*"),
  programs(
    "zellij xdotool ydotool wtype screen\\s+(?:\\S+\\s+){0,3}-X direnv\\s+(?:allow|permit|grant)",
  ),
  ...AGENT_KINDS.map(agentAlone),
  /\/dev\/pts\/\d/,
  // Timers.
  programs("at\\s+(?:-\\S+\\s+(?:\\S+\\s+)?){0,3}?(?:\\d\\S*|now|noon|midnight|teatime|tomorrow|next)"),
  // Work that is in no commit, and commits that nothing names anymore.
  /\b(?:rm|rmdir|mv|trash|unlink)\b[^\n;&|]{0,400}[\s/"']\.git(?:\/+(?:objects|refs|logs|packed-refs|HEAD)\b[^\s;&|)]*|\/*)["']?(?=[\s;&|)]|$)/m,
  git("stash", "(?:drop|clear)\\b"),
  git("(?:checkout|restore)", `["']?(?:\\.\\/?|:\\/|:\\(top\\)|(?:\\.\\/)?\\*)["']?${END}`),
  git("(?:checkout|switch)", `(?:-\\w*[fBC]\\w*|--fo\\w*(?:-create)?|--dis\\S*)${END}`),
  git("clean", "(?:-\\w*f|--fo)"),
  git("branch", `(?:-\\w*[Df]\\w*|--force)${END}`),
  git("(?:worktree[ \\t]+remove|checkout-index)", `(?:-\\w*f\\w*|--force)${END}`),
  git("(?:reset|read-tree)", "--(?:ha?r?d?|mer?g?e?|res?e?t?)(?![\\w-])"),
  /\bgit\s+(?:-\S+\s+(?:\S+\s+)?){0,3}?(?:prune(?![\w-])|gc\s[^\n;&|]{0,80}--prune=all|svn\s+dcommit|send-email|p4\s+submit)/,
  // The whole project.
  /\bfind\s+(?:\.\/?\s|\*\s|(?=-))(?![^\n;&|]{0,200}?(?<!(?:!|-not)\s{1,4})-(?:i?name|i?path|i?wholename|empty)\b[^\n;&|]{0,200}\s-delete\b)[^\n;&|]{0,200}-delete\b/,
  /\bfind\s+\.\/?\s[^\n;&|]{0,200}-i?(?:name|path|wholename)\s+["']?[*?./]+["']?\s[^\n;&|]{0,200}-delete\b/,
  /\b(?:rm|trash)\b[^\n;&|]{0,200}\s!\(|\bfd(?:find)?\b[^\n;&|]{0,200}\s(?:-[xX]|--exec\S*)\s+rm\b/,
  /\brsync\b[^\n;&|]{0,200}\s--del\S*[^\n;&|]{0,200}\s\.\/?(?=\s|[;&|)]|$)/m,
  [
    /\b(?:python[\d.]*|perl|ruby|node|deno|bun|php)\b[^\n]{0,80}(?:\s(?:-\w*[cepr]|--eval|--print|eval)\b|<<)/,
    /\b(?:rmtree|rm_rf?|(?:rm|remove|unlink|rmdir)(?:Sync)?)\b/,
    /\b(?:getcwd|cwd|pwd)\(\)|\bDir\.pwd\b|(?:\b(?:i?glob|Dir)[[(]|<)\s*["']?(?:\.\/)?\*{1,2}(?:\/\*)?["']?\s*[\])>]/,
  ],
  // Programs that Git runs.
  /\bgit\s[^\n;&|]{0,80}\brebase\b[^\n;&|]{0,80}\s-x[ \t]*["']?(?:docker|podman|ssh|rm|kubectl)\b/,
  /\bGIT_(?:SSH(?:_COMMAND)?|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|CONFIG_(?:COUNT|PARAMETERS|KEY_\d+|VALUE_\d+))=/,
  /\bgit\b[^\n;&|]{0,80}\s(?:difftool|mergetool)\b[^\n;&|]{0,80}\s(?:-[xt]|--extcmd|--tool)\b/,
  /\bGIT_(?:SEQUENCE_EDITOR|EDITOR|PAGER)=(?!["']?(?:true|:|cat|less|more)?["']?(?:[\s;&|)]|$))/m,
  [
    /\bgit\s/,
    /(?<!\w)(?:(?:EDITOR|VISUAL|PAGER|SSH_ASKPASS)=(?!["']?(?:true|:|cat|less|more)?["']?(?:[\s;&|)]|$))|(?:HOME|XDG_CONFIG_HOME|GIT_CONFIG(?:_GLOBAL|_SYSTEM)?)=(?!\/dev\/null(?:[\s;&|)]|$))\S)/m,
  ],
  /\bgit\b[^\n;&|]{0,200}\s--(?:exec-path=|(?:upload|receive)-pack\b|template\b)|\bgit\s+grep\b[^\n;&|]{0,200}\s(?:-O|--open-files)/,
  /\bgit\b[^\n;&|]{0,200}\s["']?ext::/,
  new RegExp(
    `\\bgit\\b[^\\n;&|]{0,200}\\s(?:-c|--config)[=\\s]{0,8}[\\w.*-]{1,100}\\.(?:${PROGRAM_SETTINGS})=`,
    "i",
  ),
  /\bgh\s+(?:alias|extension|ext)\s+(?!list|search)/,
  // Programs of packages that are fetched to be run.
  /\b(?:npx|npm\s+(?:exec|x))\s+(?:-\S+\s+){0,4}(?:@[\w.-]{1,100}\/)?[\w.-]{1,100}@\S/,
  /\bnpx\s+(?:-\S+\s+){0,4}(?:-p|--package)[\s=]|\bnpm\s+(?:exec|x)\s+(?:-\S+\s+){0,4}?(?:-y|--yes)\b/,
  /\b(?:npm\s+(?:init|create|innit)|(?:yarn|pnpm|bun)\s+create)\s+(?:-\S+\s+){0,4}[@a-z]|\bbun\s+x\s/,
  /\bdeno\s+run\s[^\n;&|]{0,200}?(?:npm|jsr):|\buv\s+tool\s+run\b|\bgo\s+install\s+\S{1,200}@/,
  programs(
    "pnpx dnx nix-shell deno\\s+x nix\\s+(?:run|shell|develop)\\s+(?:-\\S+\\s+){0,4}(?!(?:\\.(?:/[\\w-]{1,60}){0,8})?#)\\S*[:#]\\S+",
  ),
  /\buv\s+run\s[^\n;&|]{0,80}--with\b/,
  /\bnpm\s+(?:i|install|add)\s+(?:-\S+\s+){0,4}[\w-]{1,100}\/[\w.-]{1,100}(?:#\S{0,100})?(?=\s|[;&|)]|$)/m,
  // Fetched, then run.
  [
    /\b(?:curl|wget|aria2c|axel|git\s+clone)\b/i,
    /[;&|({`][ \t]*[\w.-]{1,100}\/[\w./-]{1,200}(?=\s|[;&|)]|$)/,
  ],
  [/\bgit\s+clone\b|\b(?:curl|wget)\b[^\n]{0,200}\|\s*(?:bsd|g)?tar\b/i, BUILDS],
  [
    // The word ends at the next place where a name may begin, so that no text is searched once for each of them.
    /(?:>(?!>)|\s-\w{0,20}o|\s--output)[=\s]*(?=[^\s&=])(?!\/dev\/null|[^\s;&|>]{0,200}\.(?:html?|txt|log|csv|xml|png|svg|pdf)\b|(?![^\s;&|>]{0,200}package\.json)[^\s;&|>]{0,200}\.json\b)(?<=\bcurl\b[^\n;&|]{0,400})|\bcurl\b[^\n;&|]{0,400}\s(?:-\w{0,20}O\b|--remote-name)|\bwget\s(?![^\n;&|]{0,200}\s(?:-\w{0,20}O\s{0,8}-(?!\w)|--spider\b|-\w{0,20}O\s{0,8}\/dev\/null))/,
    BUILDS,
  ],
  // Data that leaves this machine in an address.
  /\b(?:curl|wget|dig|nslookup|ping|host|getent)\b[^\n;&|]{0,200}(?:\$\(|`)\s*(?:cat|head|tail|<)/,
  /\bcurl\b[^\n;&|]{0,200}\s(?:-\w{0,8}K|--config)\b/,
  [programs("https?(?=\\s) xhs?(?=\\s) httpie(?=\\s)"), /\s[^\s;&|]{0,40}@\S|<\s*\S/],
  // Code that cannot be read here.
  /\w\$\{\w{1,40}:?[-+=][^}\n]{0,80}\}\w/,
  /\|&?\s*(?:[({]\s*)?(?:[^\s|]*\/)?(?:csh|tcsh|ash|mksh|nu|bun|tsx|ts-node|pypy3?|julia|swift|elixir|groovy|jshell|expect|parallel|crontab)\b(?!\.)/,
  /\|\s*(?:make\s+-f\s*-|awk\b[^\n]{0,200}\bsystem\s*\()|>\s*\(\s*(?:\w+\s+)?(?:ba|z|da|k|fi|c|tc|a)?sh\b/,
  [/\b(?:curl|wget)\b/, /\|\s*(?:psql|mysql|mariadb|sqlite3|redis-cli|mongosh?)\b/],
  [
    /\burlopen\b|\brequests\.get\b|\bfetch\s*\(|\bhttps?\.get\b|\bNet::HTTP\b/,
    /(?<![\w.])(?:exec|eval|compile|Function)\s*\(|\bos\.system\b|\bsubprocess\b|\bchild_process\b/,
  ],
  /\bimport(?:\s*\()?\s*["']?https?:/,
  /\|&?\s*(?:[({]\s*)?(?:[^\s|]*\/)?(?:lua|tclsh|Rscript|pwsh|powershell|iex|Invoke-Expression)\b/i,
  /\|&?\s*[({]\s*(?:\w+\s+)?(?:ba|z|da|k|fi)?sh\b/,
  /(?:^|[;&|(\s/])(?:ba|z|da|k|fi)?sh\b[^\n;&|]{0,80}<<<\s{0,4}["']?(?:\$|`)/m,
  /(?:^|[;&|(]|\b(?:do|then|else)\s)[ \t]*(?:\$\w+\$|\$\([^()\n]{0,80}\)\w|"?\$\w+"?[ \t]*(?:;|$))/m,
  /\bpty\.spawn\b|\bkill-port\b|\b(?:gdb|strace|ltrace)\s+-p|\bfuser\s+-\w*k|\b(?:LD_PRELOAD|BASH_ENV|DYLD_\w+)=|(?:^|[;&|]\s*|\bexport\s+)PATH=(?:\.|\/tmp)/m,
  // Windows.
  /\b(?:Remove-Item|(?:Clear|Set|Add)-Content|Out-File|(?:Move|Copy|New)-Item|del|erase|rd|ri|format|takeown|icacls)\b[^\n;|]{0,200}(?:\b[a-z]:(?![\w/])|\$(?:env:|HOME|PROFILE)|\s~|%\w+%|\.\.[\\/])/i,
  /\b(?:Set-ExecutionPolicy|Stop-Computer|Stop-Process|Restart-Computer|Invoke-Expression)\b|\biex\s*\(|\benv:(?:\s|$)/i,
  /\b(?:bcdedit|diskpart|vssadmin|schtasks|certutil|bitsadmin|mshta|rundll32|regsvr32|wmic|reg\s+(?:add|delete)|net\s+(?:user|localgroup))\b/i,
  /\b(?:powershell|pwsh)\b[^\n]{0,100}\s[-/]e(?:c|nc\w*)?\s/i,
];

/** `truncate` as a program, not as a word that is searched for. */
export const TRUNCATES = new RegExp(
  `${
    programs("truncate").source
  }|\\btruncate\\s+(?:-\\S{1,40}\\s+){0,4}?(?:-\\w{0,4}s\\s{0,8}[-+<>/%]?\\d|--s)`,
  "m",
);

/** Commands that delete, move or overwrite: they may name only what is in the project. */
export const DELETES_RUN: readonly RegExp[] = [
  programs("ed ex"),
  /\b(?:sed|perl)\b[^\n;&|]{0,200}\s(?:-\w*i|--in-place)/,
  /\bgit\b[^\n;&|]{0,80}\b(?:worktree|archive|bundle)\b|\bhttp\.server\b|\bFile\.delete\b|\.home\(/,
];

/** Paths to which a shell or a program writes, and paths of the machine that a container gets. */
export const WRITTEN_BY_RUN: readonly RegExp[] = [
  />[>|&]?\s*["'\\]*([/~$]\S*|\.\.\/\S*|[^\s/]{1,80}\/\S{0,200}?\.\.\/\S*)/g,
  /\s(?:-[oO]|--output(?:-document|-dir)?|--directory)[=\s]?\s*["'\\]*([/~$]\S*|\.\.\/\S*)/g,
  /\bwget\b[^\n;&|]{0,400}?\s(?:-\w*P|--directory-prefix)[\s=]*["'\\]*([/~$]\S*|\.\.\/\S*)/g,
  /\b(?:cd|pushd)\s+["'\\]*([/~$][^\s;&|]*|\.\.[^\s;&|]*)[^\n]{0,500}?[^=\-]>(?!&\d|\s*\/dev\/null)/g,
  /(?:\s-v\s*|--volume[\s=]+|--mount[\s=][^\n]{0,200}?\b(?:source|src)=)["']?([/~][^\s:,"']*|\.\.[^\s:,"']*|\$\{?HOME\b|\$\{?PWD\}?\S{0,80}?\/\.\.|\$\((?!\s*pwd\s*\)(?!\/\.\.)))/g,
];

const FIELD_OF_COMMAND =
  /^(?:commands?|cmd|script|code|args?|arguments|argv|parameters|shell|bash|exec|program|executable|bin|input|(?:command|cmd)_?(?:line|string)):$/im;
const FIELD_OF_CONTENT = /^(?:contents?|new_?(?:string|str|source)|edits|file_text|diff|patch):$/im;

/** Fields with a file's text, which may show any name. */
const FIELD_OF_TEXT = /^(?:contents?|(?:new|old)_?(?:string|str|source)|edits|file_text|diff|patch):\n/i;
const NESTED_COMMAND = /"(?:commands?|cmd|script|args?|argv|shell)": /i;

export interface RequestKind {
  /** False if the request shows a file's new content, and nothing that runs. */
  runs: boolean;
  /** True if it shows a file's new content. */
  hasContent: boolean;
}

export function kindOf(request: string): RequestKind {
  const hasContent = FIELD_OF_CONTENT.test(request);
  const runs = !hasContent || FIELD_OF_COMMAND.test(request) ||
    fieldsOf(request).some((field) => !FIELD_OF_TEXT.test(field) && NESTED_COMMAND.test(field));
  return { runs, hasContent };
}

/** A list, a nested object, or arguments in a field of their own. */
const LISTED = /\[\n {1,80}"|": "|^(?:args?|arguments|argv|parameters):$/im;
const PROGRAM_FIELD = /^(?:commands?|cmd|program|executable|bin):\n {2}([^\n[{]{1,400})$/im;
const ARGUMENTS_FIELD = /^(?:args?|arguments|argv|parameters):\n {2}(\[\n[^\]]{1,4000}|[^\n]{1,4000})/im;

/**
 * The words of lists, nested objects and separate fields as commands in lines; undefined if there are none. JSON's quotes
 * and line ends hide them from patterns for a command in a line.
 */
export function asCommands(request: string): string | undefined {
  if (!LISTED.test(request)) return undefined;
  const program = PROGRAM_FIELD.exec(request)?.[1];
  const given = ARGUMENTS_FIELD.exec(request)?.[1]?.replace(/^\[\n {1,80}/, "");
  const all = program === undefined || given === undefined ? request : `${request}\n${program} ${given}`;
  return fieldsOf(withPlainLists(all)).map(inLines).join("\n").replace(/["'\\]/g, "");
}

function inLines(field: string): string {
  const isCommand = isCommandObject(field);
  return field
    // A program, and its arguments in the field after it.
    .replace(/",\n {1,80}"(?:args?|arguments|argv|parameters)": (?:\[\n {1,80})?"/gi, " ")
    // The next value of an object.
    .replace(/",\n {1,80}"(?=[^"\\\n]{0,80}":)/g, '"\n"')
    .replace(/": "/g, (found, at: number, text: string) => {
      const value = /^[^"\\\n]{0,200}(?=")/.exec(text.slice(at + found.length, at + found.length + 201))?.[0];
      return !isCommand && value !== undefined && isPlain([value], text, at) ? found : "\n";
    })
    .replace(/",\n {1,80}"/g, " ")
    .replace(/\[\n {1,80}"|\\[nrt]/g, "\n");
}

/** A list of short strings without escapes. */
const LIST = /\[\n( {1,80}"[^"\\\n]{0,200}"(?:,\n {1,80}"[^"\\\n]{0,200}"){0,200})\n {0,80}\]/g;

/** Writes each list of plain words into one line, where none of them is in the place of a program. */
export function withPlainLists(request: string): string {
  return fieldsOf(request).map((field) =>
    isCommandObject(field) ? field : field.replace(LIST, (list, strings: string, at: number) => {
      const words = strings.trim().slice(1, -1).split(/",\n {1,80}"/);
      return isPlain(words, field, at) ? `["${words.join(" ")}"]` : list;
    })
  ).join("\n");
}

/** The fields of a request: only the lines of their values are indented. */
export function fieldsOf(request: string): string[] {
  return request.split(/\n(?=\S)/);
}

/** True for a list or an object in which every value belongs to a command. */
function isCommandObject(field: string): boolean {
  const [, name] = /^(\S[^\n]{0,99}):\n {2}[[{]\n/.exec(field) ?? [];
  return name !== undefined && isOfCommand(name) && !/^(?:arg|param|input)/i.test(name);
}

/** An option, a path or what a shell treats specially: labels have none. */
const OF_SHELL = /(?:^|\s)[-./~]|[;&|`$<>{}*\\]/;

/** The name of a field, or of a nested one, right before its value. */
const NAME_BEFORE = /"([^":\n]*)(?:": )?$|(?:^|\n)(\S[^\n]*):\n {2}$/;
const NAME_MAX_CHARS = 100;

/** True for the words at this place if none of them, nor the name of their field, is that of a command. */
function isPlain(words: readonly string[], text: string, at: number): boolean {
  const before = NAME_BEFORE.exec(text.slice(Math.max(0, at - NAME_MAX_CHARS), at));
  const name = before?.[1] ?? before?.[2];
  return name !== undefined && !isOfCommand(name) &&
    words.every((word) => !/\s/.test(word) && !OF_SHELL.test(word));
}

/** Words in the name of a field that holds a command or a part of one. */
const OF_COMMANDS = new Set(
  ("arg args argument arguments argv bash bin cmd cmds command commands entrypoint exec executable execute input " +
    "invocation parameters program run script shell tokens words").split(" "),
);

function isOfCommand(name: string): boolean {
  const words = name.replace(/[a-z](?=[A-Z])/g, "$&_").toLowerCase().split(/[_-]/);
  return words.some((word) => OF_COMMANDS.has(word));
}
