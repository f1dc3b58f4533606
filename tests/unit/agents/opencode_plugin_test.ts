/** The plugin for OpenCode: what it passes to svc for a dialog, and what it does with the answer. */
import assert from "node:assert/strict";
import { CHECKOUT } from "../../helpers/sources.ts";
import { until } from "../../helpers/until.ts";

interface Posted {
  url: string;
  body: unknown;
}

interface Plugin {
  "chat.message"(call: unknown, output: { message: unknown; parts: unknown[] }): Promise<void>;
  "tool.execute.before"(call: unknown, output: { args: unknown }): Promise<void>;
  event(input: { event: { type: string; properties: Record<string, unknown> } }): Promise<void>;
}

interface Bench extends AsyncDisposable {
  plugin: Plugin;
  posted: Posted[];
  /** Resolves with arguments and input of each run of svc. */
  runs(): Promise<Run[]>;
  /** Makes svc print this answer for the waiting dialog. */
  print(answer: string): Promise<void>;
  /** Resolves with the process that keeps a hook's output open after its launcher was killed. */
  held(): Promise<number | undefined>;
  /** With `hangs`: lets the time limit run out. */
  reachLimit(): void;
}

interface Run {
  args: string;
  input: Record<string, unknown>;
  pid: number;
}

/** The conversation of a task that the agent of `ses_1` gave to another. */
const SUBTASK = "ses_2";

/** Replaces the time limit in the plugin's module, so that the test decides when it is reached. */
const LIMIT_BY_HAND = `let atLimit;
const setTimeout = (work) => void (atLimit = work);
export const reachLimit = () => atLimit();
`;

/**
 * The launcher records its call; a hook with a dialog, or of a compaction, prints what arrives through the pipe `answer`.
 * With `hangs` all others do so too, in a separate process.
 */
async function makeBench({ hangs = false } = {}): Promise<Bench> {
  const root = await Deno.makeTempDir({ prefix: "svc-plugin-" });
  const lines = [
    "#!/bin/sh",
    `printf '%s\\t%s\\t%s\\n' "$*" "$$" "$(cat)" >> ${root}/runs`,
    hangs ? `sh -c 'echo $$ > ${root}/held; exec cat ${root}/answer'; exit` : "",
    `[ "$4" = cards ] || [ "$2" = session.compacted ] || exit 0`,
    `exec cat ${root}/answer`,
  ];
  await new Deno.Command("mkfifo", { args: [`${root}/answer`] }).output();
  await Deno.writeTextFile(`${root}/svc`, `${lines.join("\n")}\n`, { mode: 0o700 });
  const text = await Deno.readTextFile(`${CHECKOUT}plugin/opencode/svc.js`);
  const plugin = text.replace("{{launcher}}", `${root}/svc`);
  await Deno.writeTextFile(`${root}/svc.mjs`, hangs ? plugin + LIMIT_BY_HAND : plugin);
  const { Svc, reachLimit } = await import(`file://${root}/svc.mjs`);
  const held = async (): Promise<number | undefined> =>
    Number(await Deno.readTextFile(`${root}/held`).catch(() => "")) || undefined;
  const posted: Posted[] = [];
  const client = {
    _client: { post: ({ url, body }: Posted) => Promise.resolve(void posted.push({ url, body })) },
    session: {
      get: ({ path }: { path: { id: string } }) =>
        Promise.resolve({ data: path.id === SUBTASK ? { parentID: "ses_1" } : {} }),
      messages: () => Promise.resolve({ data: [{ info: { role: "assistant" }, parts: [] }] }),
      prompt: ({ path, body }: { path: { id: string }; body: unknown }) =>
        Promise.resolve(void posted.push({ url: path.id, body })),
    },
  };
  return {
    plugin: await Svc({ client, directory: "/work/app" }),
    posted,
    async runs() {
      const all = await Deno.readTextFile(`${root}/runs`).catch(() => "");
      return all.split("\n").filter((line) => line !== "").map((line) => {
        const [args = "", pid, input = ""] = line.split("\t");
        return { args, pid: Number(pid), input: JSON.parse(input) };
      });
    },
    print: (answer) => Deno.writeTextFile(`${root}/answer`, answer),
    held,
    reachLimit,
    async [Symbol.asyncDispose](): Promise<void> {
      const pid = await held();
      if (pid !== undefined && await lives(pid)) Deno.kill(pid, "SIGKILL");
      if (pid !== undefined) await until("the end of svc", async () => !await lives(pid));
      await Deno.remove(root, { recursive: true });
    },
  };
}

/** True if the process is running; one that has ended has no program, even if it was not waited for. */
function lives(pid: number): Promise<boolean> {
  return Deno.readLink(`/proc/${pid}/exe`).then(() => true, () => false);
}

const tool = { messageID: "msg_1", callID: "call_1" };
const PERMISSION = {
  id: "per_1",
  sessionID: "ses_1",
  permission: "bash",
  patterns: ["touch a"],
  metadata: {},
  always: ["touch *"],
  tool,
};

const cards = async ({ runs }: Bench): Promise<Run | undefined> =>
  (await runs()).find(({ args }) => args.endsWith(" cards"));

function untilEnded(pid: number): Promise<unknown> {
  return until("its end", () => Deno.stat(`/proc/${pid}`).then(() => false, () => true));
}

Deno.test("a permission goes to svc with the call's arguments, and its answer goes back to the same request [card-approvals]", async () => {
  await using bench = await makeBench();
  const { plugin, posted } = bench;
  const args = { command: "touch a", description: "Make a" };
  await plugin["tool.execute.before"]({ sessionID: "ses_1", callID: "call_1" }, { args });
  await plugin.event({ event: { type: "permission.asked", properties: PERMISSION } });
  const asked = await until("svc", () => cards(bench));
  assert.equal(asked.args, "hook permission.asked opencode cards");
  const message = "bash touch a";
  const where = { session_id: "ses_1", cwd: "/work/app" };
  assert.deepEqual(asked.input, { ...where, message, request: PERMISSION, args });
  assert.deepEqual(posted, []);
  await bench.print('{"reply":{"reply":"once"}}');
  await until("the answer", () => posted.length > 0);
  assert.deepEqual(posted, [{ url: "/permission/per_1/reply", body: { reply: "once" } }]);
});

Deno.test("a question without an answer from a phone, or with an unreadable one, stays open at the computer [card-questions]", async () => {
  await using bench = await makeBench();
  const { plugin, posted } = bench;
  const questions = [{ question: "Which color?", header: "Color", options: [] }];
  for (const [place, printed] of ["", "no JSON", "{}", '{"reply":{"answers":[["Blue"]]}}'].entries()) {
    const properties = { id: `que_${place}`, sessionID: "ses_1", questions, tool };
    await plugin.event({ event: { type: "question.asked", properties } });
    const { pid } = await until("svc", async () => (await bench.runs())[place]);
    await bench.print(printed);
    await untilEnded(pid);
  }
  await until("the answer", () => posted.length > 0);
  assert.deepEqual(posted, [{ url: "/question/que_3/reply", body: { answers: [["Blue"]] } }]);
});

Deno.test("an answer that comes in several pieces keeps its characters [card-questions]", async () => {
  await using bench = await makeBench();
  const { plugin, posted } = bench;
  const properties = { id: "que_1", sessionID: "ses_1", questions: [{ question: "Why?" }], tool };
  await plugin.event({ event: { type: "question.asked", properties } });
  await until("svc", () => cards(bench));
  // Each character has three bytes, so no chunk size is a multiple of it.
  const answers = [["世".repeat(100_000)]];
  await bench.print(JSON.stringify({ reply: { answers } }));
  await until("the answer", () => posted.length > 0);
  assert.deepEqual(posted, [{ url: "/question/que_1/reply", body: { answers } }]);
});

Deno.test("an answer at the computer ends the hook that waits for a phone [card-hook-ends]", async () => {
  await using bench = await makeBench();
  const { plugin, posted } = bench;
  await plugin.event({ event: { type: "permission.asked", properties: PERMISSION } });
  const { pid } = await until("svc", () => cards(bench));
  const properties = { sessionID: "ses_1", requestID: "per_1", reply: "once" };
  await plugin.event({ event: { type: "permission.replied", properties } });
  await untilEnded(pid);
  assert.deepEqual(posted, []);
});

Deno.test("a dialog of a task that the agent gave to another goes to the phone, and the end of that task does not [card-approvals]", async () => {
  await using bench = await makeBench();
  const { plugin, posted } = bench;
  const args = { command: "touch a" };
  await plugin["tool.execute.before"]({ sessionID: SUBTASK, callID: "call_1" }, { args });
  const properties = { ...PERMISSION, sessionID: SUBTASK };
  await plugin.event({ event: { type: "session.idle", properties: { sessionID: SUBTASK } } });
  await plugin.event({ event: { type: "permission.asked", properties } });
  await until("svc", () => cards(bench));
  await bench.print('{"reply":{"reply":"once"}}');
  await until("the answer", () => posted.length > 0);
  assert.deepEqual(posted, [{ url: "/permission/per_1/reply", body: { reply: "once" } }]);
  const events = (await bench.runs()).map(({ args }) => args.split(" ")[1]);
  assert.deepEqual(events, ["tool.execute.before", "permission.asked"]);
});

/** Calls the plugin in Node, with `full` while every file descriptor is in use. */
const CALLS = `
import { openSync } from "node:fs";
import { Svc } from "./svc.mjs";
Promise.withResolvers ??= () => {
  let [resolve, reject] = [];
  const promise = new Promise((...both) => [resolve, reject] = both);
  return { promise, resolve, reject };
};
const plugin = await Svc({ client: {}, directory: "/work/app" });
try { while (process.argv[2] === "full") openSync("/dev/null"); } catch { /* None is left. */ }
const parts = [{ type: "text", text: "go on" }];
await plugin["chat.message"]({ sessionID: "ses_1" }, { message: { id: "msg_1" }, parts });
await plugin["tool.execute.before"]({ sessionID: "ses_1", callID: "call_1" }, { args: {} });
await plugin["tool.execute.after"]({ sessionID: "ses_1", callID: "call_1" });
`;

Deno.test("prompts and tool calls go on when svc cannot be started [rm-never-breaks]", async () => {
  const root = await Deno.makeTempDir({ prefix: "svc-plugin-" });
  try {
    await Deno.writeTextFile(`${root}/file`, "");
    const text = await Deno.readTextFile(`${CHECKOUT}plugin/opencode/svc.js`);
    await Deno.writeTextFile(`${root}/main.mjs`, CALLS);
    for (const [launcher, how] of [[`${root}/file/svc`, ""], ["/bin/true", "full"]]) {
      await Deno.writeTextFile(`${root}/svc.mjs`, text.replace("{{launcher}}", `${launcher}`));
      const args = ["-c", 'ulimit -n 64; exec node "$@"', "bash", `${root}/main.mjs`, `${how}`];
      const { code, stderr } = await new Deno.Command("/bin/bash", { args }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("a prompt waits for a hanging svc no longer than the limit, even if svc outlives its launcher [rm-never-breaks]", async () => {
  await using bench = await makeBench({ hangs: true });
  const parts: unknown[] = [{ type: "text", text: "go on" }];
  let isTaken = false;
  const taken = bench.plugin["chat.message"]({ sessionID: "ses_1" }, { message: { id: "msg_1" }, parts });
  void taken.then(() => isTaken = true);
  const held = await until("svc", () => bench.held());
  bench.reachLimit();
  await until("the prompt that goes on", () => isTaken);
  assert.equal(parts.length, 1);
  assert.ok(await lives(held), "svc outlives its launcher");
});

Deno.test("after a compaction the model is informed again, but not after a prompt that came meanwhile [rm-compact]", async () => {
  await using bench = await makeBench();
  const { plugin, posted } = bench;
  const printed = '{"additionalContext":"from the phone"}';
  const compact = async (place: number, meanwhile?: string): Promise<void> => {
    const handled = plugin.event({
      event: { type: "session.compacted", properties: { sessionID: "ses_1" } },
    });
    await until("svc", async () => (await bench.runs())[place]);
    const parts = [{ type: "text", text: "go on" }];
    if (meanwhile !== undefined) {
      await plugin["chat.message"]({ sessionID: meanwhile }, { message: { id: "msg_1" }, parts });
    }
    await bench.print(printed);
    await handled;
  };
  const body = { noReply: true, parts: [{ type: "text", synthetic: true, text: "from the phone" }] };
  await compact(0);
  assert.deepEqual(posted.splice(0), [{ url: "ses_1", body }]);
  await compact(1, "ses_1");
  assert.deepEqual(posted.splice(0), []);
  await compact(3, "ses_2");
  assert.deepEqual(posted, [{ url: "ses_1", body }]);
});
