/** Reports to svc what OpenCode does, and informs the model when the user drives from the phone. Written by svc setup. */
import { spawn } from "node:child_process";

const LAUNCHER = "{{launcher}}";
/** OpenCode waits no longer than this for svc. */
const LIMIT_MS = 2_000;
/** The limit for tool calls; svc answers long before it. */
const GATE_LIMIT_MS = 15_000;

/** The limit for a phone that answers a dialog; svc gives up before it. */
const CARD_LIMIT_MS = 600_000;
/** Calls whose arguments are kept for a dialog that may come with them. */
const CALLS_MAX = 100;

/** What `svc <args>` prints as JSON; undefined when it prints nothing, fails, cannot start, or is not there any more. */
async function runSvc(args, input, { limitMs = LIMIT_MS, argument = "gates", signal } = {}) {
  const { promise, resolve } = Promise.withResolvers();
  let child;
  try {
    child = spawn(LAUNCHER, [...args, argument], { stdio: ["pipe", "pipe", "ignore"], signal });
  } catch {
    return undefined;
  }
  child.on("error", () => resolve(""));
  // Without a free file descriptor it has no streams.
  if (!child.stdout || !child.stdin) return undefined;
  const timer = setTimeout(() => {
    child.kill();
    // That ends the launcher's shell alone: svc itself may keep the pipe open.
    resolve("");
  }, limitMs);
  let output = "";
  // A character may come in two pieces.
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => output += chunk);
  child.stdin.on("error", () => {});
  child.on("close", () => resolve(output));
  child.stdin.end(JSON.stringify(input));
  return await promise.then(JSON.parse).catch(() => undefined).finally(() => clearTimeout(timer));
}

/** A part of a message that the model reads and the person does not see. Parts are sorted by id: it comes last. */
function hiddenPart(message, text) {
  const id = `prt_zz${crypto.randomUUID().replaceAll("-", "")}`;
  return { id, sessionID: message.sessionID, messageID: message.id, type: "text", synthetic: true, text };
}

/** What the person typed: parts that OpenCode or a plugin added are not theirs. */
function typedText(parts) {
  return parts.filter(({ type, synthetic }) => type === "text" && !synthetic).map(({ text }) => text).join(
    "\n",
  );
}

/** The last words of the agent; undefined when they are a summary that it wrote for itself. */
async function lastMessage(client, id) {
  const { data = [] } = await client.session.messages({ path: { id } });
  const last = data.filter(({ info }) => info.role === "assistant").at(-1);
  return last === undefined || last.info.summary ? undefined : typedText(last.parts);
}

/** A task of its own that the agent gave to another: nobody waits for its end, but a person decides its dialogs. */
async function isSubtask(client, id) {
  const { data } = await client.session.get({ path: { id } });
  return data?.parentID !== undefined;
}

export const Svc = ({ client, directory }) => {
  const report = (event, id, more, options) =>
    runSvc(["hook", event, "opencode"], { session_id: id, cwd: directory, ...more }, options);
  /** The arguments of tool calls, by call. */
  const calls = new Map();
  /** What waits for a phone, by OpenCode's request. */
  const waiting = new Map();
  /** OpenCode's dialog is open meanwhile: the first answer counts, whether it comes from here or from there. */
  const ask = async (kind, request, message) => {
    const { id, sessionID, tool } = request;
    const end = new AbortController();
    waiting.set(id, end);
    try {
      const more = { message, request, args: calls.get(tool?.callID) };
      const options = { limitMs: CARD_LIMIT_MS, argument: "cards", signal: end.signal };
      const answer = await report(`${kind}.asked`, sessionID, more, options);
      if (!answer?.reply || end.signal.aborted) return;
      const headers = { "content-type": "application/json" };
      await client._client.post({ url: `/${kind}/${id}/reply`, body: answer.reply, headers });
    } catch {
      // OpenCode's dialog stays open.
    } finally {
      waiting.delete(id);
    }
  };
  const answered = ({ requestID }) => waiting.get(requestID)?.abort();
  /** Conversations that were compacted and had no prompt since. */
  const compacted = new Set();
  const events = {
    "session.idle": async ({ sessionID }) => {
      const message = await lastMessage(client, sessionID);
      if (message !== undefined) await report("session.idle", sessionID, { last_message: message });
    },
    // OpenCode may send no further event before this one is handled, so neither waits for the phone.
    "permission.asked": (request) =>
      void ask("permission", request, [request.permission, ...request.patterns ?? []].join(" ")),
    "question.asked": (request) => void ask("question", request, request.questions?.[0]?.question),
    // It carries no state: the listener reads the screen instead.
    "permission.replied": async (reply) => {
      answered(reply);
      await report("permission.replied", reply.sessionID);
    },
    "question.replied": answered,
    "question.rejected": answered,
    "session.deleted": ({ info }) => report("session.deleted", info.id),
    "session.compacted": async ({ sessionID: id }) => {
      const text = (await report("session.compacted", id))?.additionalContext;
      // A prompt that came meanwhile brought its own notice, and this one would contradict it.
      if (!text || !compacted.has(id)) return;
      const body = { noReply: true, parts: [{ type: "text", synthetic: true, text }] };
      await client.session.prompt({ path: { id }, body });
    },
  };
  return Promise.resolve({
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = typedText(parts);
      if (prompt === "") return;
      compacted.delete(sessionID);
      const input = { session_id: sessionID, cwd: directory, prompt };
      const text = (await runSvc(["remote-hook", "opencode"], input))?.additionalContext;
      if (text) parts.push(hiddenPart(message, text));
    },
    // OpenCode awaits this, so neither the tool nor its dialog starts before svc has answered.
    "tool.execute.before": async ({ sessionID, callID }, { args }) => {
      calls.set(callID, args);
      if (calls.size > CALLS_MAX) calls.delete(calls.keys().next().value);
      await report("tool.execute.before", sessionID, { call_id: callID }, { limitMs: GATE_LIMIT_MS });
    },
    "tool.execute.after": ({ sessionID, callID }) => {
      calls.delete(callID);
      void report("tool.execute.after", sessionID, { call_id: callID });
      return Promise.resolve();
    },
    event: async ({ event: { type, properties } }) => {
      const handle = Object.hasOwn(events, type) ? events[type] : undefined;
      if (handle === undefined) return;
      const id = properties.sessionID;
      if (type === "session.compacted") compacted.add(id);
      try {
        const isDialog = /^(?:permission|question)\./.test(type);
        if (isDialog || id === undefined || !await isSubtask(client, id)) await handle(properties);
      } catch {
        // OpenCode goes on without svc.
      }
    },
  });
};
