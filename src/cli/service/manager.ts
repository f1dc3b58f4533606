/** What systemd and launchd need for one service: its file, and the commands that start, stop and show it. */
import { launchdLabel, launchdPlist, type ServiceName, type ServicePlan, systemdUnit } from "./units.ts";

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
  /** Makes a new or changed file known; run in this order. */
  enable: readonly Argv[];
  start: Argv;
  /** Ends the process of an earlier file, if it runs, and starts this one. */
  restart: Argv;
  /** May fail when the service does not run. */
  disable: readonly Argv[];
  /** Run after the file is gone. */
  afterRemoval: readonly Argv[];
  /** Exits with 0 while the service runs. */
  isActive: Argv;
  /** For people. */
  showLog: string;
}

export function serviceManager(plan: ServicePlan, place: ServicePlace): ServiceManager {
  return place.platform === "darwin" ? launchd(plan, place) : systemd(plan, place);
}

/** A listener belongs to an account, and each account may have one. */
export function unitName(
  { name, isSystem, account }: Pick<ServicePlan, "name" | "isSystem" | "account">,
): string {
  return isSystem && name === "listener" ? `svc-listener-${account}.service` : `svc-${name}.service`;
}

function systemd(plan: ServicePlan, { home, env }: ServicePlace): ServiceManager {
  const unit = unitName(plan);
  const folder = plan.isSystem
    ? "/etc/systemd/system"
    : `${env.XDG_CONFIG_HOME || `${home}/.config`}/systemd/user`;
  const control = plan.isSystem ? ["systemctl", "--no-ask-password"] : ["systemctl", "--user"];
  const reload = [...control, "daemon-reload"];
  return {
    file: `${folder}/${unit}`,
    text: systemdUnit(plan),
    enable: [reload, [...control, "enable", "--quiet", unit]],
    start: [...control, "start", unit],
    restart: [...control, "restart", unit],
    disable: [[...control, "disable", "--quiet", "--now", unit]],
    afterRemoval: [reload],
    isActive: [...control, "is-active", "--quiet", unit],
    showLog: `journalctl ${plan.isSystem ? "" : "--user "}-u ${unit} -f`,
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
    enable: [["launchctl", "bootstrap", domain, file]],
    start: ["launchctl", "kickstart", `${domain}/${label}`],
    restart: ["launchctl", "kickstart", `${domain}/${label}`],
    disable: [["launchctl", "bootout", `${domain}/${label}`]],
    afterRemoval: [],
    isActive: ["launchctl", "print", `${domain}/${label}`],
    showLog: `tail -f ${log}`,
  };
}

export const SERVICE_NAMES: readonly ServiceName[] = ["listener", "relay"];
