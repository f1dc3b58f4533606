/** The text of svc's services: systemd units and launchd property lists. */

/** In every file that `svc service` may replace or remove. */
export const SERVICE_MARK = "Written by svc service install";

export const SERVICE_NAMES = ["listener", "relay"] as const;
export type ServiceName = typeof SERVICE_NAMES[number];

export interface ServicePlan {
  name: ServiceName;
  /** argv of the service's process. */
  command: readonly string[];
  /** A service of the machine, not of one account's session. */
  isSystem: boolean;
  /** The account of a system service; undefined: systemd makes one for the relay. */
  account: string | undefined;
  env: Readonly<Record<string, string>>;
  /** The folder that the relay writes to; empty for a listener. */
  data: string;
  /** The relay listens on a port below 1024. */
  hasLowPort: boolean;
}

/** How long the listener may take to finish the message that it is typing, in seconds. */
const STOP_LIMIT_S = 20;
const RESTART_DELAY_S = 2;

export function systemdUnit(plan: ServicePlan): string {
  const { name, command, isSystem, account, env } = plan;
  const own = name === "listener" ? LISTENER_LINES : relayLines(plan);
  return [
    `# ${SERVICE_MARK}, which replaces it; put settings of your own into a drop-in: systemctl edit`,
    "[Unit]",
    `Description=svc ${name}`,
    "Documentation=man:svc(1)",
    ...(isSystem ? ["Wants=network-online.target", "After=network-online.target"] : []),
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=exec",
    `ExecStart=${command.map(execWord).join(" ")}`,
    ...(account === undefined ? [] : [`User=${account}`]),
    ...Object.entries(env).map(([key, value]) => `Environment=${quoted(`${key}=${value}`)}`),
    "Restart=on-failure",
    `RestartSec=${RESTART_DELAY_S}`,
    `TimeoutStopSec=${STOP_LIMIT_S}`,
    ...own,
    "",
    "[Install]",
    `WantedBy=${isSystem ? "multi-user.target" : "default.target"}`,
    "",
  ].join("\n");
}

/** The tmux server and the agents that the listener starts inherit what is set here, so nothing is restricted. */
const LISTENER_LINES = [
  "WorkingDirectory=~",
  "# Stopping the listener must not end the tmux server and the agents that it started.",
  "KillMode=process",
  "OOMPolicy=continue",
];

/** What systemd applies in an account's session too, where it cannot make namespaces. */
const RELAY_ANYWHERE = [
  "NoNewPrivileges=true",
  "LockPersonality=true",
  "RestrictRealtime=true",
  "RestrictSUIDSGID=true",
  "SystemCallArchitectures=native",
  "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK",
  "UMask=0077",
  "LimitNOFILE=20000",
];

/** No MemoryDenyWriteExecute: JavaScript is compiled while it runs. */
const RELAY_SYSTEM = [
  "ProtectSystem=strict",
  "PrivateTmp=true",
  "PrivateDevices=true",
  "ProtectKernelTunables=true",
  "ProtectKernelModules=true",
  "ProtectKernelLogs=true",
  "ProtectControlGroups=true",
  "ProtectClock=true",
  "ProtectHostname=true",
  "RestrictNamespaces=true",
];

/** Where a relay of the machine keeps its data; systemd makes it. */
export const STATE_DIRECTORY = "/var/lib/svc";

function relayLines({ isSystem, account, data, hasLowPort }: ServicePlan): string[] {
  if (!isSystem) return ["WorkingDirectory=~", ...RELAY_ANYWHERE];
  return [
    ...(account === undefined ? ["DynamicUser=true", "ProtectHome=true"] : []),
    data === STATE_DIRECTORY ? "StateDirectory=svc" : `ReadWritePaths=${quoted(data)}`,
    "# The runtime keeps its cache there: the account's own home may not exist, and cannot be written to.",
    `Environment=${quoted(`HOME=${data}`)}`,
    ...RELAY_ANYWHERE,
    ...RELAY_SYSTEM,
    ...capabilities(hasLowPort),
  ];
}

/** The one capability that a port below 1024 needs, or none. */
function capabilities(hasLowPort: boolean): string[] {
  return hasLowPort
    ? ["AmbientCapabilities=CAP_NET_BIND_SERVICE", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE"]
    : ["CapabilityBoundingSet="];
}

/** One word of ExecStart: without the specifiers (%) and variables ($) that systemd would replace. */
function execWord(word: string): string {
  const escaped = word.replaceAll("$", "$$$$");
  return /^[\w@+=:,./-]+$/.test(word) ? escaped : quoted(escaped);
}

/** Throws Error for a line break, which no unit can hold. */
function quoted(text: string): string {
  if (/[\n\r\0]/.test(text)) {
    throw new Error(`Cannot write ${JSON.stringify(text)} into a unit: it has a line break. Remove that.`);
  }
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}

/** The words that a unit or property list starts, as they were before they were escaped; none in a text of another kind. */
export function startedWords(text: string): string[] {
  const started = /^ExecStart=(.*)$/m.exec(text)?.[1];
  if (started !== undefined) {
    const words = started.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g);
    return Array.from(
      words,
      ([, quoted, plain]) =>
        quoted === undefined
          ? (plain ?? "").replaceAll("$$", "$")
          : quoted.replace(/\\(.)/g, "$1").replaceAll("%%", "%").replaceAll("$$", "$"),
    );
  }
  const list = /<key>ProgramArguments<\/key>\s*<array>([^]*?)<\/array>/.exec(text)?.[1] ?? "";
  return Array.from(
    list.matchAll(/<string>([^<]*)<\/string>/g),
    ([, word = ""]) => word.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
  );
}

export function launchdLabel(name: ServiceName): string {
  return `svc.${name}`;
}

/** `log`: where launchd appends what the process prints. */
export function launchdPlist({ name, command, account, env }: ServicePlan, log: string): string {
  const variables = Object.entries(env).flatMap(([key, value]) => [
    `    <key>${xml(key)}</key>`,
    `    <string>${xml(value)}</string>`,
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${SERVICE_MARK} -->`,
    '<plist version="1.0">',
    "<dict>",
    "  <key>Label</key>",
    `  <string>${launchdLabel(name)}</string>`,
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...command.map((word) => `    <string>${xml(word)}</string>`),
    "  </array>",
    "  <key>EnvironmentVariables</key>",
    "  <dict>",
    ...variables,
    "  </dict>",
    ...(account === undefined ? [] : ["  <key>UserName</key>", `  <string>${xml(account)}</string>`]),
    "  <key>RunAtLoad</key>",
    "  <true/>",
    "  <key>KeepAlive</key>",
    "  <dict>",
    "    <key>SuccessfulExit</key>",
    "    <false/>",
    "  </dict>",
    "  <!-- Stopping it must not end the tmux server and the agents that it started. -->",
    "  <key>AbandonProcessGroup</key>",
    "  <true/>",
    "  <key>ExitTimeOut</key>",
    `  <integer>${STOP_LIMIT_S}</integer>`,
    "  <key>StandardOutPath</key>",
    `  <string>${xml(log)}</string>`,
    "  <key>StandardErrorPath</key>",
    `  <string>${xml(log)}</string>`,
    "</dict>",
    "</plist>",
    "",
  ].join("\n");
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
