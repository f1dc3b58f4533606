/** Runs an agent's hook as the agent would, on a prompt that is marked as the phone's, and leaves nothing behind. */
import type { AgentHooks } from "../../../agents/hooks.ts";
import { isTaken, withdrawMarker, writeMarker } from "../../../home/markers.ts";
import type { HomePaths } from "../../../home/paths.ts";
import { writeRemote } from "../../../home/remote_mode.ts";
import type { AgentKind } from "../../../protocol/names.ts";
import type { Commands, Files, RunResult } from "../../../runtime/types.ts";

/** A hook or a server that takes longer is a fault, in milliseconds. */
export const PROBE_LIMIT_MS = 5_000;

export interface ProbeHost {
  files: Files;
  commands: Pick<Commands, "run" | "pipe">;
  paths: HomePaths;
  /** What the agent would hand down. */
  env: Readonly<Record<string, string>>;
}

export interface ProbedHook {
  kind: AgentKind;
  hooks: AgentHooks;
  /** A line for a shell. */
  command: string;
}

/** Why the hook does not fire; undefined when it does. */
export async function probeHook(host: ProbeHost, hook: ProbedHook): Promise<string | undefined> {
  const { files, paths: { markers, remote } } = host;
  const made = await files.makeTempDirectory("svc-verify-");
  const id = crypto.randomUUID();
  try {
    const dir = await files.realPath(made) ?? made;
    const { promptEvent } = hook.hooks;
    // A hook without a place gets an input without a directory: it must tell no phone of an end that was none.
    if (promptEvent === undefined) return exitFault(await runHook(host, hook.command, { dir, input: {} }));
    const text = `svc verify ${id}`;
    const marker = await writeMarker({ files, markers }, { dir, text, now: Date.now() });
    try {
      const input = { session_id: id, sessionId: id, hook_event_name: promptEvent, cwd: dir, prompt: text };
      const result = await runHook(host, hook.command, { dir, input });
      return hookFault(hook.hooks, result, { isTaken: await isTaken({ files, markers }, marker) });
    } finally {
      await withdrawMarker({ files, markers }, marker);
      await writeRemote({ files, remote }, { agent: hook.kind, id }, "off");
    }
  } finally {
    await files.remove(made, { recursive: true });
  }
}

/** Undefined when it took too long. */
async function runHook(
  { commands, env }: ProbeHost,
  command: string,
  { dir, input }: { dir: string; input: Readonly<Record<string, string>> },
): Promise<RunResult | undefined> {
  const signal = AbortSignal.timeout(PROBE_LIMIT_MS);
  const options = { cwd: dir, env: { ...env }, stdin: JSON.stringify(input), signal };
  const result = await commands.run(["sh", "-c", command], options);
  return signal.aborted ? undefined : result;
}

export function exitFault(result: RunResult | undefined): string | undefined {
  if (result === undefined) return `its command does not end within ${PROBE_LIMIT_MS / 1_000} s`;
  const said = result.stderr.trim().split("\n").at(-1) ?? "";
  switch (result.code) {
    case 0:
      return undefined;
    case 126:
      return `its command cannot be run: ${said}`;
    case 127:
      return `its command is not there: ${said}`;
    default:
      return `its command ends with code ${result.code}: ${said}`;
  }
}

/** What is wrong with a run of a prompt's hook; undefined when it told the model and took the marker. */
export function hookFault(
  hooks: AgentHooks,
  result: RunResult | undefined,
  { isTaken }: { isTaken: boolean },
): string | undefined {
  const failed = exitFault(result);
  if (failed !== undefined) return failed;
  const printed = new TextDecoder().decode(result?.stdout).trim();
  if (printed === "") {
    return isTaken
      ? "its command takes the phone's prompt and prints nothing for the model"
      : "its command prints nothing and leaves the phone's prompt unread: the svc that it runs is gone, or has another home";
  }
  const [before = "", after = ""] = hooks.contextOutput(hooks.promptEvent ?? "", "?").split("?");
  if (!printed.startsWith(before) || !printed.endsWith(after)) {
    return `its command prints what the agent does not read: ${JSON.stringify(printed.slice(0, 80))}`;
  }
  return isTaken ? undefined : "its command does not take the phone's prompt";
}
