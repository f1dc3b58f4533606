/** Runs an agent's hook and its MCP server as the agent would, and leaves nothing behind. */
import * as z from "zod/mini";
import type { AgentHooks } from "../../../agents/hooks.ts";
import { errorText } from "../../../async/error_text.ts";
import { encodeUtf8 } from "../../../async/encodings.ts";
import { isTaken, withdrawMarker, writeMarker } from "../../../home/markers.ts";
import type { HomePaths } from "../../../home/paths.ts";
import { writeRemote } from "../../../hooks/follow_remote.ts";
import { parseJson } from "../../../protocol/json.ts";
import type { AgentKind } from "../../../protocol/names.ts";
import { VERSION } from "../../../protocol/version.ts";
import { drain, splitLines } from "../../../runtime/input.ts";
import type { Commands, Files, PipedChild, RunResult } from "../../../runtime/types.ts";

/** Longest time that a hook or a server may take, in milliseconds. Agents themselves wait for 30 s and more. */
export const PROBE_LIMIT_MS = 15_000;

export interface ProbeHost {
  files: Files;
  commands: Pick<Commands, "run" | "pipe">;
  paths: HomePaths;
  /** The environment that the agent would pass on. */
  env: Readonly<Record<string, string>>;
}

interface ProbedHook {
  kind: AgentKind;
  hooks: AgentHooks;
  /** A shell command line. */
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
    // The hook of such an agent gets an input without a directory, so that it does not report an end to the phones.
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
  const lastLine = result.stderr.trim().split("\n").at(-1) ?? "";
  switch (result.code) {
    case 0:
      return undefined;
    case 126:
      return `its command cannot be run: ${lastLine}`;
    case 127:
      return `its command does not exist: ${lastLine}`;
    default:
      return `its command ends with code ${result.code}: ${lastLine}`;
  }
}

/** What is wrong with a run of a prompt's hook; undefined when it informed the model and took the marker. */
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

/** The protocol version to request; a server answers with its own. */
const PROTOCOL = "2025-06-18";
/** How long a server may take to exit after its input has ended, in milliseconds. */
const LEAVE_MS = 500;

export type McpProbe = { tools: string[] } | { why: string };

const Answer = z.object({
  id: z.number(),
  result: z.looseObject({ tools: z.optional(z.array(z.looseObject({ name: z.string() }))) }),
});

const INITIALIZE = {
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: PROTOCOL,
    capabilities: {},
    clientInfo: { name: "svc verify", version: VERSION },
  },
};
const INITIALIZED = { method: "notifications/initialized" };
const LIST = { id: 2, method: "tools/list", params: {} };

export async function probeMcp(host: ProbeHost, argv: readonly string[]): Promise<McpProbe> {
  let child: PipedChild;
  try {
    child = host.commands.pipe(argv, { env: { ...host.env } });
  } catch (error) {
    return { why: `its command cannot be started: ${errorText(error)}` };
  }
  void drain(child.stderr);
  try {
    return await Promise.race([askForTools(child), timeOut()]);
  } finally {
    await endChild(child);
  }
}

async function askForTools(child: PipedChild): Promise<McpProbe> {
  await send(child, INITIALIZE);
  for await (const line of splitLines(child.stdout)) {
    const answer = Answer.safeParse(parseJson(line)?.value);
    if (!answer.success) continue;
    const { id, result } = answer.data;
    if (id === LIST.id) return { tools: (result.tools ?? []).map(({ name }) => name) };
    await send(child, INITIALIZED);
    await send(child, LIST);
  }
  return { why: `its command ends with code ${await child.exited} without listing its tools` };
}

/** A failure is ignored: when the server is gone, its output ends. */
async function send({ stdin }: PipedChild, message: Readonly<Record<string, unknown>>): Promise<void> {
  const line = `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
  await stdin.write(encodeUtf8(line)).catch(() => {});
}

async function timeOut(): Promise<McpProbe> {
  await after(PROBE_LIMIT_MS);
  return { why: `its command does not list its tools within ${PROBE_LIMIT_MS / 1_000} s` };
}

async function endChild(child: PipedChild): Promise<void> {
  child.stdin.close();
  await Promise.race([child.exited, after(LEAVE_MS)]);
  child.kill("SIGKILL");
  await child.exited;
}

/** Not `setTimeout`: these are never cancelled, and must not keep the process alive. */
function after(ms: number): Promise<void> {
  return new Promise((resolve) =>
    AbortSignal.timeout(ms).addEventListener("abort", () => resolve(), { once: true })
  );
}
