/** Starts a registered MCP server as its agent would, and asks it for its tools. */
import { errorText } from "../../../async/error_text.ts";
import * as z from "zod/mini";
import { parseJson } from "../../../protocol/json.ts";
import { VERSION } from "../../../protocol/version.ts";
import { splitLines } from "../../../runtime/lines.ts";
import type { PipedChild } from "../../../runtime/types.ts";
import {} from "../check.ts";
import { PROBE_LIMIT_MS, type ProbeHost } from "./probe_hook.ts";

/** The version of the protocol that is asked for; a server answers with its own. */
const PROTOCOL = "2025-06-18";
/** A server whose input has ended gets this long to go by itself, in milliseconds. */
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
    return await Promise.race([converse(child), tooLate()]);
  } finally {
    await dismiss(child);
  }
}

async function converse(child: PipedChild): Promise<McpProbe> {
  await say(child, INITIALIZE);
  for await (const line of splitLines(child.stdout)) {
    const answer = Answer.safeParse(parseJson(line)?.value);
    if (!answer.success) continue;
    const { id, result } = answer.data;
    if (id === LIST.id) return { tools: (result.tools ?? []).map(({ name }) => name) };
    await say(child, INITIALIZED);
    await say(child, LIST);
  }
  return { why: `its command ends with code ${await child.exited} and says nothing of tools` };
}

/** A server that is gone is noticed by its output's end. */
async function say({ stdin }: PipedChild, message: Readonly<Record<string, unknown>>): Promise<void> {
  const line = `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
  await stdin.write(new TextEncoder().encode(line)).catch(() => {});
}

async function tooLate(): Promise<McpProbe> {
  await passed(PROBE_LIMIT_MS);
  return { why: `its command does not list its tools within ${PROBE_LIMIT_MS / 1_000} s` };
}

async function dismiss(child: PipedChild): Promise<void> {
  child.stdin.close();
  await Promise.race([child.exited, passed(LEAVE_MS)]);
  child.kill("SIGKILL");
  await child.exited;
}

/** Not `setTimeout`: nobody takes these back, and they must not keep the process. */
function passed(ms: number): Promise<void> {
  return new Promise((resolve) =>
    AbortSignal.timeout(ms).addEventListener("abort", () => resolve(), { once: true })
  );
}

async function drain(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}
