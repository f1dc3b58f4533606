/** The control socket `listener.sock`, its server and client: one JSON object per line, one answer per request. */
import * as z from "zod/mini";
import type { DialogAnswer } from "../agents/hooks.ts";
import { CardQuestions, Decision } from "../protocol/ask.ts";
import { describeFaults } from "../protocol/errors.ts";
import { parseJson } from "../protocol/json.ts";
import { maxLength } from "../protocol/lengths.ts";
import { TITLE_MAX_CHARS } from "../protocol/limits.ts";
import { Body, DeviceId } from "../protocol/push.ts";
import { AgentState } from "../protocol/session.ts";
import type { LineConnection, LocalSockets } from "../runtime/types.ts";

/** A notification for the phones. */
export const HookNews = z.object({
  type: z.enum(["agent.stop", "agent.attention"]),
  title: z.string().check(maxLength(TITLE_MAX_CHARS)),
  /** The agent's text. */
  body: z.optional(Body),
  /** The transcript file, when the agent writes its text only after the hook. */
  transcript: z.optional(z.string().check(maxLength(4_096))),
});
export type HookNews = z.infer<typeof HookNews>;

/** What an agent's hook reports. */
export const HookReport = z.looseObject({
  /** The agent's name for the event: `UserPromptSubmit`, `PermissionRequest`, `Stop`, … */
  event: z.string().check(maxLength(100)),
  /** Kind of agent. */
  agent: z.string().check(maxLength(50)),
  /** The agent's working directory, from its hook input. */
  cwd: z.string().check(maxLength(4_096)),
  /** `SVC_SESSION` of the pane. */
  session: z.optional(z.string().check(maxLength(256))),
  /** `TMUX_PANE` of the agent, `%<n>`, when its hooks have it. */
  pane: z.optional(z.string().check(z.regex(/^%\d{1,9}$/))),
  /** The resolved path of the socket in `TMUX`: that pane's server. Hooks of an older svc do not report it. */
  socket: z.optional(z.string().check(maxLength(4_096))),
  /** The agent's own id of the conversation, unless one agent works in several at once. */
  conversation: z.optional(z.string().check(maxLength(200))),
  /** How the conversation began, in the agent's word, such as `startup` or `clear`. */
  source: z.optional(z.string().check(maxLength(50))),
  /** This agent's hooks hold back its dialogs while input is in flight. */
  gates: z.optional(z.boolean()),
  /**
   * A tool call begins or has ended. `id` is the agent's own, if there is one. `subagent`: the call is made by an agent
   * that this one started, and may continue after this one's turn has ended.
   */
  tool: z.optional(z.object({
    step: z.enum(["before", "after"]),
    id: z.optional(z.string().check(maxLength(200))),
    subagent: z.optional(z.boolean()),
  })),
  /** The agent's state after the event, if the event determines it. */
  state: z.optional(AgentState),
  /** In reports of `svc mcp`: the question, or one wait of a card, however often it is reported. */
  ask: z.optional(z.string().check(maxLength(100))),
  /** In reports of `svc mcp`: the run of the agent that asks, as in its question. */
  run: z.optional(z.string().check(maxLength(200))),
  news: z.optional(HookNews),
});
export type HookReport = z.infer<typeof HookReport>;

/** A dialog of an agent, as its hook sees it: see `DialogCall` of the agents' hooks. */
const DialogCall = z.object({
  dialog: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("questions"), questions: CardQuestions }),
    z.object({
      kind: z.literal("approval"),
      tool: z.string(),
      request: z.string(),
      decisions: z.array(Decision),
    }),
  ]),
  isShown: z.boolean(),
});
export type DialogCall = z.infer<typeof DialogCall>;

export const ControlRequest = z.discriminatedUnion("op", [
  /** Asks for the daemon's status. */
  z.object({ op: z.literal("status") }),
  /** Stops the daemon once the injection in progress is finished. */
  z.object({ op: z.literal("stop") }),
  /** A hook reports. */
  z.object({ op: z.literal("hook"), report: HookReport }),
  /**
   * A tool call is about to begin and may open a dialog: answered when no input is in flight to the agent's pane. The
   * report has `tool` with the step `before` and no `news`, which comes in its own `hook` request before it.
   */
  z.object({ op: z.literal("gate"), report: HookReport }),
  /**
   * An agent's hook waits with a dialog: answered when a phone has answered it, or without an `answer` when the agent
   * should ask at the computer. A hook stops waiting by disconnecting.
   */
  z.object({ op: z.literal("dialog"), report: HookReport, call: DialogCall }),
  /**
   * A session is about to begin: answered when it may. The listener then attaches no client to tmux until the requester
   * disconnects.
   */
  z.object({ op: z.literal("begin") }),
  /** A session or a relay has started: try the relay and read tmux now, not when it is due. */
  z.object({ op: z.literal("look") }),
  /** A phone was revoked: close everything it has open. */
  z.object({ op: z.literal("forget"), phone: DeviceId }),
]);
export type ControlRequest = z.infer<typeof ControlRequest>;

/** The daemon's status. Unknown fields are kept, because a newer daemon may add some. */
export const DaemonStatus = z.looseObject({
  pid: z.number(),
  version: z.string(),
  /** Epoch milliseconds. */
  startedAt: z.number(),
  wsUrl: z.string(),
  /** The WebSocket to the relay is open and welcomed. */
  connected: z.boolean(),
  /** Sessions in the last inventory. */
  sessions: z.number(),
});
export type DaemonStatus = z.infer<typeof DaemonStatus>;

export const ControlAnswer = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    status: z.optional(DaemonStatus),
    /** The `DialogAnswer` to a `dialog` request. */
    answer: z.optional(z.unknown()),
  }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);
export type ControlAnswer = z.infer<typeof ControlAnswer>;

export interface ControlHandlers {
  /** Undefined once the daemon is stopping, so that no caller relies on it. */
  status(): DaemonStatus | undefined;
  /** Starts to stop and returns at once; called after the answer was sent. */
  stop(): void;
  hook(report: HookReport): void;
  /** Resolves once the tool call may begin. */
  gate(report: HookReport): Promise<void>;
  /** Resolves with the answer; undefined when the agent should ask at the computer. `gone`: the hook disconnected. */
  dialog(report: HookReport, call: DialogCall & { gone: AbortSignal }): Promise<DialogReply | undefined>;
  /** Resolves once a session may begin. `begun` fires when the requester disconnects, because it has begun. */
  begin(begun: AbortSignal): Promise<void>;
  look(): void;
  forget(phone: string): void;
}

/** An answer for a hook that waits. */
export interface DialogReply {
  answer: DialogAnswer;
  /** Called once, with whether the hook was still connected to take it. */
  handedOver(isTaken: boolean): void;
}

/** Further connections are closed at once. */
export const CONTROL_CONNECTIONS_MAX = 64;
/** A connection without a request for this long is closed. */
const CONTROL_IDLE_MS = 10_000;

/** Binds `path` (0600) and serves it until closed. Throws with code `EADDRINUSE` when the path exists. */
export async function serveControl(
  sockets: Pick<LocalSockets, "listen">,
  path: string,
  handlers: ControlHandlers,
): Promise<{ close(): void }> {
  const open = new Set<LineConnection>();
  return await sockets.listen(path, (connection) => {
    if (open.size >= CONTROL_CONNECTIONS_MAX) return connection.close();
    open.add(connection);
    serveConnection(connection, handlers).finally(() => open.delete(connection));
  });
}

/** A client that disconnects or sends an overlong line ends only its own connection. */
async function serveConnection(connection: LineConnection, handlers: ControlHandlers): Promise<void> {
  const lines = connection.lines[Symbol.asyncIterator]();
  const gone = new AbortController();
  // Reads one line ahead, to detect a client that disconnects while its request waits.
  const read = (): Promise<IteratorResult<string>> => {
    const next = lines.next();
    next.then(({ done }) => done && gone.abort(), () => gone.abort());
    return next;
  };
  let idle = setTimeout(() => connection.close(), CONTROL_IDLE_MS);
  try {
    let next = read();
    for (let line = await next; !line.done; line = await next) {
      clearTimeout(idle);
      next = read();
      const { answer, after } = await takeLine(line.value, { handlers, gone: gone.signal });
      const isTaken = await connection.send(JSON.stringify(answer)).then(() => true, () => false);
      after?.(isTaken);
      if (!isTaken) break;
      idle = setTimeout(() => connection.close(), CONTROL_IDLE_MS);
    }
  } catch {
    // The client is gone.
  } finally {
    connection.close();
    clearTimeout(idle);
  }
}

/** An answer, and what to do once it was sent or its client was gone. */
interface Reply {
  answer: ControlAnswer;
  after?: (isTaken: boolean) => void;
}

interface Serving {
  handlers: ControlHandlers;
  gone: AbortSignal;
}

async function takeLine(line: string, serving: Serving): Promise<Reply> {
  const request = ControlRequest.safeParse(parseJson(line)?.value);
  if (request.success) return await take(request.data, serving);
  return { answer: { ok: false, error: `Cannot take the request: ${describeFaults(request.error)}` } };
}

async function take(request: ControlRequest, { handlers, gone }: Serving): Promise<Reply> {
  switch (request.op) {
    case "status": {
      const status = handlers.status();
      return { answer: status === undefined ? { ok: false, error: STOPPING } : { ok: true, status } };
    }
    case "stop":
      return { answer: { ok: true }, after: () => handlers.stop() };
    case "hook":
      handlers.hook(request.report);
      return { answer: { ok: true } };
    case "gate":
      await handlers.gate(request.report);
      return { answer: { ok: true } };
    case "dialog": {
      const reply = await handlers.dialog(request.report, { ...request.call, gone });
      if (reply === undefined) return { answer: { ok: true } };
      return { answer: { ok: true, answer: reply.answer }, after: reply.handedOver };
    }
    case "begin":
      await handlers.begin(gone);
      return { answer: { ok: true } };
    case "look":
      handlers.look();
      return { answer: { ok: true } };
    case "forget":
      handlers.forget(request.phone);
      return { answer: { ok: true } };
  }
}

const STOPPING = "The listener is stopping: it finishes what it has in hand.";

interface AskOptions {
  /** How long the whole exchange may take, in milliseconds. */
  timeoutMs: number;
}

/** The answer; undefined when no daemon listens or answers in time. */
export async function askDaemon(
  socket: { sockets: Pick<LocalSockets, "connect">; path: string },
  request: ControlRequest,
  options: AskOptions,
): Promise<ControlAnswer | undefined> {
  const connection = await socket.sockets.connect(socket.path);
  if (connection === undefined) return undefined;
  const timer = setTimeout(() => connection.close(), options.timeoutMs);
  try {
    return await exchange(connection, request);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    connection.close();
  }
}

async function exchange(
  connection: LineConnection,
  request: ControlRequest,
): Promise<ControlAnswer | undefined> {
  await connection.send(JSON.stringify(request));
  for await (const line of connection.lines) {
    const answer = ControlAnswer.safeParse(parseJson(line)?.value);
    return answer.success ? answer.data : undefined;
  }
  return undefined;
}
