/** The Cursor-class terminal agent, which npm does not have: its profile with a stand-in for its screen, and its MCP server as registered. */
import assert from "node:assert/strict";
import { textOf } from "../helpers/mcp_bench.ts";
import { startMcp } from "../helpers/mcp_process.ts";
import { runSvc } from "../helpers/program.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { untilPushes } from "./phone.ts";
import { show } from "./table.ts";

const MESSAGES = [
  "hello; from the phone;",
  "first\n\nthird",
  "-n",
  "/x/y is a path",
  "word ".repeat(400),
  "👨‍👩‍👧 日本",
];

/** Installs a program with its name on PATH; resolves with the variables for svc and the file of submitted texts. */
async function install({ sandbox }: Stack): Promise<{ env: Record<string, string>; transcript: string }> {
  const [bin, transcript] = [`${sandbox.root}/bin`, `${sandbox.root}/submitted.jsonl`];
  const program = `${CHECKOUT}tests/agents/cursor_stand_in.ts`;
  const run = `exec ${Deno.execPath()} run -A --quiet --no-check ${program} ${transcript}`;
  await Deno.mkdir(bin);
  // It prints nothing when asked for its tools, so the server counts as not approved.
  const script = `#!/bin/sh\n[ "$1" = mcp ] && exit 1\n${run}\n`;
  await Deno.writeTextFile(`${bin}/cursor-agent`, script, { mode: 0o700 });
  return { env: { PATH: `${bin}:${sandbox.env.PATH}` }, transcript };
}

async function svc({ sandbox }: Stack, args: string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runSvc(sandbox, args, { env });
  assert.equal(code, 0, stdout + stderr);
  return stdout;
}

Deno.test("cursor: messages reach the input line that its profile describes, and every MCP tool works as svc setup registers it [remote-cursor-works, other-agents]", async () => {
  await using stack = await makeStack();
  const { sandbox, api } = stack;
  const { env, transcript } = await install(stack);
  await svc(stack, ["setup", "--agent", "cursor"], env);
  const session = (await svc(stack, ["--detach", "cursor"], env)).trim();
  // The longest message must be fully visible: svc presses Enter only on text that it sees.
  await sandbox.tmux("resize-window", "-t", `=${session}:`, "-x", "80", "-y", "50");
  let confirmed = 0;
  for (const message of MESSAGES) {
    if ((await stack.send(session, message)).receipt.state === "submitted") confirmed++;
  }
  const submitted = await until("every message", async () => {
    const lines = (await Deno.readTextFile(transcript).catch(() => "")).trim().split("\n");
    return lines.length >= MESSAGES.length && lines.map((line) => JSON.parse(line));
  }, 60_000);
  assert.deepEqual(submitted, MESSAGES.map((message) => message.trim()));

  const { svc: server } = JSON.parse(await Deno.readTextFile(`${sandbox.home}/.cursor/mcp.json`)).mcpServers;
  assert.deepEqual(server.args, ["mcp"]);
  const { client } = await startMcp(sandbox, { launch: [server.command], env: { SVC_SESSION: session } });
  const call = async (name: string, args: Record<string, unknown>): Promise<string> =>
    textOf(await client.callTool({ name, arguments: args }));
  const asked = async (count: number): Promise<string> =>
    (await untilPushes(stack, "ask", count)).at(-1)?.id ?? "";

  const choice = call("svc_ask", { question: "Which?", options: ["this", "that"] });
  await api.sendPush({ type: "ask.answer", inReplyTo: await asked(1), data: { choices: ["that"] } });
  assert.equal(await choice, "that");
  const prompted = call("svc_prompt", { question: "What?" });
  await api.sendPush({ type: "ask.answer", inReplyTo: await asked(2), body: "so and so" });
  assert.equal(await prompted, "so and so");
  const fields = [{ name: "branch", type: "text", label: "Branch" }];
  const form = call("svc_input", { question: "Where?", fields });
  await api.sendPush({ type: "ask.answer", inReplyTo: await asked(3), data: { values: { branch: "main" } } });
  assert.equal(await form, "branch: main");
  await call("svc_notify", { title: "A note" });
  assert.equal((await untilPushes(stack, "note", 1))[0]?.agentSessionName, session);
  await client.close();
  report(confirmed);
});

/** Reports what the stand-in proves, and why the rest cannot be tested. */
function report(confirmed: number): void {
  const absent = "npm has no cursor-agent to try it with";
  for (const capability of ["early", "slash", "states", "held", "keys", "exit", "late", "verify"] as const) {
    show("cursor", capability, absent);
  }
  for (const capability of ["informed", "local", "compacted"] as const) {
    show(
      "cursor",
      capability,
      "its hooks have no place for what the model should read, as its documents say",
    );
  }
  const figure = `${MESSAGES.length} of ${MESSAGES.length}`;
  show("cursor", "messages", `${figure}, into a stand-in for its screen: npm has no cursor-agent`);
  show("cursor", "confirmed", `${confirmed} of ${MESSAGES.length}, by a stand-in for its screen`);
  show("cursor", "asked", "its MCP server as svc setup registers it, called by a client of the protocol");
}
