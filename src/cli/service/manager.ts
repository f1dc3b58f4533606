/** What systemd and launchd need for one service: its file, and the commands that start, stop and show it. */
import { shellLine } from "../installation.ts";
import { launchdLabel, launchdPlist, type ServicePlan, systemdUnit } from "./units.ts";

export interface ServicePlace {
  platform: string;
  /** The user's home directory. */
  home: string;
  uid: number;
  env: Readonly<Record<string, string>>;
  /** Where launchd appends the output. */
  log: string;
}

type Argv = readonly string[];

export interface ServiceManager {
  /** The unit or property list. */
  file: string;
  text: string;
  /** Takes an earlier file's service away; may fail when there is none. */
  unload: readonly Argv[];
  /** Makes a new or changed file known; run in this order. */
  enable: readonly Argv[];
  start: Argv;
  /** Ends the process of an earlier file, if it runs, and starts this one. */
  restart: Argv;
  /** May fail when the service does not run. */
  disable: readonly Argv[];
  /** Run after the file is gone; the last one may fail when the service has not failed. */
  afterRemoval: readonly Argv[];
  /** Exits with 0 while the service runs. */
  isActive: Argv;
  /** Prints what `runStateOf` reads. */
  showState: Argv;
  /** Prints the last lines that the service logged. */
  lastLog: Argv;
  /** For people. */
  showLog: string;
}

/** One look at a service. */
export interface RunState {
  isActive: boolean;
  /** It has ended by itself since it was started. */
  hasEnded: boolean;
  /** Of its main process; 0 while it has none. */
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

/** In a unit's name `@` stands before the instance of a template: escaped as systemd-escape(1) does. */
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
  return {
    file: `${folder}/${unit}`,
    text: systemdUnit(plan),
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
  };
}

function launchd(plan: ServicePlan, { home, uid, log }: ServicePlace): ServiceManager {
  const label = launchdLabel(plan.name);
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
    showLog: `tail -f ${log}`,
  };
}
