/** Every message of the control socket `listener.sock`: one JSON object a line, an answer for each request. */
import * as z from "zod/mini";
import { TITLE_MAX_CHARS } from "../protocol/limits.ts";
import { Body, DeviceId } from "../protocol/push.ts";
import { AgentState } from "../protocol/session.ts";

/** What the phones are notified of. */
export const HookNews = z.object({
  type: z.enum(["agent.stop", "agent.attention"]),
  title: z.string().check(z.maxLength(TITLE_MAX_CHARS)),
  /** The agent's text. */
  body: z.optional(Body),
  /** The transcript file, when the agent writes its text only after the hook. */
  transcript: z.optional(z.string().check(z.maxLength(4_096))),
});
export type HookNews = z.infer<typeof HookNews>;

/** What an agent's hook saw. */
export const HookReport = z.looseObject({
  /** The agent's own name of the event: `UserPromptSubmit`, `PermissionRequest`, `Stop`, … */
  event: z.string().check(z.maxLength(100)),
  /** Kind of agent. */
  agent: z.string().check(z.maxLength(50)),
  /** The agent's working directory, from its hook input. */
  cwd: z.string().check(z.maxLength(4_096)),
  /** `SVC_SESSION` of the pane. */
  session: z.optional(z.string().check(z.maxLength(256))),
  /** `TMUX_PANE` of the agent, `%<n>`, when its hooks have it. */
  pane: z.optional(z.string().check(z.regex(/^%\d{1,9}$/))),
  /** This agent's hooks hold back its dialogs while input is in flight. */
  gates: z.optional(z.boolean()),
  /**
   * A tool call begins or has ended. `id` is the agent's own, if there is one. `subagent`: the call of an agent that this
   * one started, which may continue after this one's turn has ended.
   */
  tool: z.optional(z.object({
    step: z.enum(["before", "after"]),
    id: z.optional(z.string().check(z.maxLength(200))),
    subagent: z.optional(z.boolean()),
  })),
  /** The agent's state after the event, if the event tells it. */
  state: z.optional(AgentState),
  /** In reports of `svc mcp`: identifies one wait, however often it is reported. */
  ask: z.optional(z.string().check(z.maxLength(100))),
  news: z.optional(HookNews),
});
export type HookReport = z.infer<typeof HookReport>;

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
  /** A session has started: read tmux now, not at the next poll. */
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
  z.object({ ok: z.literal(true), status: z.optional(DaemonStatus) }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);
export type ControlAnswer = z.infer<typeof ControlAnswer>;
