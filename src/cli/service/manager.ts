/** A service for systemd or launchd: its file, a unit or a property list, and the commands that control and show it. */
import { shellLine } from "../../runtime/system.ts";

/** Marks every file that `svc service` may replace or remove. */
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

export interface ServicePlace {
  platform: string;
  /** The user's home directory. */
  home: string;
  uid: number;
  env: Readonly<Record<string, string>>;
  /** Where launchd appends the output. */
  log: string;
  /** The listener's own log. */
  listenerLog: string;
}

type Argv = readonly string[];

export interface ServiceManager {
  /** The unit or property list. */
  file: string;
  text: string;
  /** Exits with 0 where the manager can be reached; undefined for launchd. */
  reach?: Argv;
  /** Unloads the service of an earlier file; may fail when there is none. */
  unload: readonly Argv[];
  /** Registers a new or changed file; run in this order. */
  enable: readonly Argv[];
  start: Argv;
  /** Ends the process of an earlier file, if it runs, and starts this one. */
  restart: Argv;
  /** May fail when the service does not run. */
  disable: readonly Argv[];
  /** Run after the file was removed; the last one may fail when the service has not failed. */
  afterRemoval: readonly Argv[];
  /** Exits with 0 while the service runs. */
  isActive: Argv;
  /** Prints what `runStateOf` reads. */
  showState: Argv;
  /** Prints the last lines that the service logged. */
  lastLog: Argv;
  /** For people. */
  showLog: string;
  /** Opens a drop-in, or the file itself, for the user's settings. */
  edit: string;
  /** Where to keep a variable that other accounts must not read. */
  keepSecret: string;
}

/** The state of a service at one moment. */
export interface RunState {
  isActive: boolean;
  /** It has ended by itself since it was started. */
  hasEnded: boolean;
  /** The pid of its main process; 0 while it has none. */
  pid: number;
}

/** Reads what `showState` printed: `systemctl show` with its properties, or `launchctl print`. */
export function runStateOf(text: string): RunState {
  const values = new Map(
    Array.from(text.matchAll(/^\s*([\w ]+?) ?= ?(.*)$/gm), ([, name, value]) => [name, value]),
  );
  const state = values.get("ActiveState") ?? values.get("state") ?? "";
  return {
    isActive: state === "active" || state === "running",
    hasEnded: state === "failed" || values.get("SubState") === "auto-restart" ||
      Number(values.get("NRestarts") ?? 0) > 0,
    pid: Number(values.get("MainPID") ?? values.get("pid") ?? 0),
  };
}

export function serviceManager(plan: ServicePlan, place: ServicePlace): ServiceManager {
  return place.platform === "darwin" ? launchd(plan, place) : systemd(plan, place);
}

/** A listener belongs to an account, and each account may have one. */
export function unitName(
  { name, isSystem, account }: Pick<ServicePlan, "name" | "isSystem" | "account">,
): string {
  return isSystem && name === "listener"
    ? `svc-listener-${unitText(account ?? "")}.service`
    : `svc-${name}.service`;
}

/** The account, escaped as systemd-escape(1) does: in a unit's name, `@` precedes the instance of a template. */
function unitText(account: string): string {
  return account.replace(
    /[^\w.-]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

function systemd(plan: ServicePlan, { home, env }: ServicePlace): ServiceManager {
  const unit = unitName(plan);
  const folder = plan.isSystem
    ? "/etc/systemd/system"
    : `${env.XDG_CONFIG_HOME || `${home}/.config`}/systemd/user`;
  const control = plan.isSystem ? ["systemctl", "--no-ask-password"] : ["systemctl", "--user"];
  const scope = plan.isSystem ? [] : ["--user"];
  const reload = [...control, "daemon-reload"];
  const edit = shellLine(["systemctl", ...scope, "edit", unit]);
  return {
    file: `${folder}/${unit}`,
    text: systemdUnit(plan),
    reach: [...control, "show", "--property=Version"],
    unload: [],
    enable: [reload, [...control, "enable", "--quiet", unit]],
    start: [...control, "start", unit],
    restart: [...control, "restart", unit],
    disable: [[...control, "disable", "--quiet", "--now", unit]],
    afterRemoval: [reload, [...control, "reset-failed", unit]],
    isActive: [...control, "is-active", "--quiet", unit],
    showState: [...control, "show", "--property=ActiveState,SubState,NRestarts,MainPID", unit],
    lastLog: ["journalctl", ...scope, "-u", unit, "-n", "5", "-o", "cat", "--no-pager", "--quiet"],
    showLog: shellLine(["journalctl", ...scope, "-u", unit, "-f"]),
    edit,
    keepSecret:
      `Put it into a file of your own with mode 0600, and name that by EnvironmentFile= in: ${edit}. Then: svc listener --restart`,
  };
}

function launchd(plan: ServicePlan, { home, uid, log, listenerLog }: ServicePlace): ServiceManager {
  const label = launchdLabel(plan.name);
  const logs = plan.name === "listener" ? [listenerLog, log] : [log];
  const domain = plan.isSystem ? "system" : `gui/${uid}`;
  const folder = plan.isSystem ? "/Library/LaunchDaemons" : `${home}/Library/LaunchAgents`;
  const file = `${folder}/${label}.plist`;
  return {
    file,
    text: launchdPlist(plan, log),
    unload: [["launchctl", "bootout", `${domain}/${label}`]],
    enable: [["launchctl", "bootstrap", domain, file]],
    start: ["launchctl", "kickstart", `${domain}/${label}`],
    restart: ["launchctl", "kickstart", "-k", `${domain}/${label}`],
    disable: [["launchctl", "bootout", `${domain}/${label}`]],
    afterRemoval: [],
    isActive: ["launchctl", "print", `${domain}/${label}`],
    showState: ["launchctl", "print", `${domain}/${label}`],
    lastLog: ["tail", "-n", "5", log],
    showLog: shellLine(["tail", "-F", ...logs]),
    edit: file,
    keepSecret: "launchd has no other place for it: use a proxy without a password, or no service.",
  };
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

/** Settings that systemd also applies in an account's session, where it cannot create namespaces. */
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

/** The data folder of a relay that is a system service; systemd creates it. */
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

/** One word of ExecStart, with the specifiers (%) and variables ($) escaped that systemd would replace. */
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

/** The account that a service's file names: of systemd or launchd. */
export function accountIn(text: string): string | undefined {
  return (/^User=(.+)$/m.exec(text) ?? /<key>UserName<\/key>\s*<string>([^<]+)</.exec(text))?.[1];
}

/** The unescaped argv of a unit or property list; empty for any other text. */
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

function launchdLabel(name: ServiceName): string {
  return `svc.${name}`;
}

/** `log`: the file to which launchd appends the output; it is not rotated. */
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
