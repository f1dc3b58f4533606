/** Starts an installed service, waits until it runs and stays up, and takes everything back when it does not. */
import { runtime } from "#runtime";
import { systemClock, waitFor } from "../../async/clock.ts";
import { daemonStatus, ensureListener, stopDaemon } from "../../home/daemon.ts";
import type { HomePaths } from "../../home/paths.ts";
import { forgetService, recordService } from "../../home/service.ts";
import { hostAndPort, parseListenAddress } from "../../relay/server.ts";
import { daemonHost, daemonOptions } from "../context.ts";
import { shellLine } from "../installation.ts";
import { print } from "../output.ts";
import { type RunState, runStateOf, type ServiceManager } from "./manager.ts";
import { SERVICE_MARK, type ServicePlan } from "./units.ts";

/** A slow machine's time for a start. */
const START_LIMIT_MS = 60_000;
/** A process that answers, and is the same for so long, stays up. */
const STEADY_MS = 2_000;
const LOOK_MS = 200;
const ANSWER_LIMIT_MS = 2_000;

export interface Placed {
  plan: ServicePlan;
  manager: ServiceManager;
  paths: HomePaths;
}

/** Where the relay of a plan answers over plain http; undefined where that cannot be asked. */
export interface RelayAddress {
  listen: string;
  isTls: boolean;
}

/** Writes the file and starts the service. Resolves with why it does not run; then all is as it was before. */
export async function bringUp(
  placed: Placed,
  { relay }: { relay: RelayAddress | undefined },
): Promise<string | undefined> {
  const { plan, manager } = placed;
  const former = await formerState(placed);
  const isChanged = former.text !== manager.text;
  if (isChanged) await writeFile(manager.file, manager.text);
  print(isChanged ? `Wrote ${manager.file}` : `Up to date: ${manager.file}`);
  const hasStopped = await handOver(placed, former);
  if (isChanged && former.text !== undefined) await runAll(manager.unload);
  const failure = await runAll([...manager.enable, isChanged ? manager.restart : manager.start]) ??
    await untilRunning(placed, { relay });
  if (failure === undefined) return undefined;
  const { stdout } = await runtime.commands.run(manager.lastLog);
  const log = new TextDecoder().decode(stdout).trimEnd();
  if (isChanged) await takeBack(placed, former);
  const kept = isChanged ? "Everything is as it was before." : "The service stays installed.";
  const options = { ...daemonOptions(placed.paths), onNotice: print };
  if (isChanged && hasStopped) await ensureListener(daemonHost(), options);
  return `Cannot run svc's ${plan.name} as a service: ${failure}${log === "" ? "" : `\n${log}`}\n${kept}`;
}

interface FormerState {
  /** The service's file, if svc wrote one before. */
  text: string | undefined;
  isActive: boolean;
  /** `service.json`. */
  record: string | undefined;
}

async function formerState({ manager, paths }: Placed): Promise<FormerState> {
  const text = await ownFile(manager.file);
  const isActive = text !== undefined && (await runtime.commands.run(manager.isActive)).code === 0;
  return { text, isActive, record: await runtime.files.readText(paths.service) };
}

/** The text of the file, or undefined if it does not exist. Throws Error if svc did not write it. */
export async function ownFile(path: string): Promise<string | undefined> {
  const text = await runtime.files.readText(path);
  if (text === undefined || text.includes(SERVICE_MARK)) return text;
  throw new Error(`Cannot use "${path}": it exists, and svc did not write it. Move it away first.`);
}

async function writeFile(file: string, text: string): Promise<void> {
  await runtime.files.makeDirectory(file.slice(0, file.lastIndexOf("/")));
  await runtime.files.replaceText(file, text, { mode: 0o644 });
}

/** The listener of the account that runs this. */
export function isOwnListener({ name, isSystem }: ServicePlan): boolean {
  return name === "listener" && !isSystem;
}

/**
 * From now on every start of the listener starts the service; a listener that a wrapper started is stopped for it.
 * True if one was.
 */
async function handOver({ plan, manager, paths }: Placed, { isActive }: FormerState): Promise<boolean> {
  if (!isOwnListener(plan)) return false;
  await recordService(runtime.files, paths, {
    start: [...manager.start],
    command: [...runtime.selfCommand()],
  });
  if (isActive || !await stopDaemon(daemonHost(), paths)) return false;
  print("Stopped the listener that ran before.");
  return true;
}

async function takeBack({ plan, manager, paths }: Placed, former: FormerState): Promise<void> {
  await runAll(manager.disable);
  if (former.text === undefined) {
    await runtime.files.remove(manager.file);
    await runAll(manager.afterRemoval);
  } else {
    await writeFile(manager.file, former.text);
    await runAll([...manager.enable, ...(former.isActive ? [manager.start] : [])]);
  }
  if (!isOwnListener(plan)) return;
  if (former.record === undefined) await forgetService(runtime.files, paths);
  else await runtime.files.replaceText(paths.service, former.record, { mode: 0o600 });
}

/** Resolves once the service has answered for a while as one process, or with why it does not. */
async function untilRunning(
  placed: Placed,
  { relay }: { relay: RelayAddress | undefined },
): Promise<string | undefined> {
  const { manager } = placed;
  let since: { pid: number; at: number } | undefined;
  const look = async (): Promise<{ failure: string | undefined } | undefined> => {
    const { stdout } = await runtime.commands.run(manager.showState);
    const state = runStateOf(new TextDecoder().decode(stdout));
    if (state.hasEnded) return { failure: `it ended right after its start. Its log: ${manager.showLog}` };
    if (!await answers(placed, { state, relay })) {
      since = undefined;
      return undefined;
    }
    const now = systemClock.elapsed();
    if (since?.pid !== state.pid) since = { pid: state.pid, at: now };
    return now - since.at >= STEADY_MS ? { failure: undefined } : undefined;
  };
  const found = await waitFor(look, { clock: systemClock, limitMs: START_LIMIT_MS, everyMs: LOOK_MS });
  if (found !== undefined) return found.failure;
  return `it does not answer after ${START_LIMIT_MS / 1_000} s. Its log: ${manager.showLog}`;
}

async function answers(
  { plan, paths }: Placed,
  { state, relay }: { state: RunState; relay: RelayAddress | undefined },
): Promise<boolean> {
  if (!state.isActive || state.pid === 0) return false;
  if (isOwnListener(plan)) return (await daemonStatus(daemonHost(), paths))?.pid === state.pid;
  const url = relay && healthUrl(relay);
  if (url === undefined) return true;
  const asked = fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  return await asked.then(async (response) => (await response.text(), response.ok), () => false);
}

/** Undefined for a port that the relay chooses, and for a certificate that is another name's. */
function healthUrl({ listen, isTls }: RelayAddress): string | undefined {
  const { hostname, port } = parseListenAddress(listen);
  if (isTls || port === 0) return undefined;
  const local = hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname;
  return `http://${hostAndPort({ hostname: local, port })}/healthz`;
}

/** What failed, in one line; undefined when nothing did. */
export async function runAll(commands: readonly (readonly string[])[]): Promise<string | undefined> {
  for (const argv of commands) {
    const { code, stderr } = await runtime.commands.run(argv);
    if (code !== 0) return `"${shellLine(argv)}" ended with ${code}: ${stderr.trim()}`;
  }
  return undefined;
}
