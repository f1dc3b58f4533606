/** Finds and checks the pane of a message, before its turn too, and remembers which agent asked what. */
import { setNewest } from "../../async/newest.ts";
import type { HookReport } from "../../home/control_socket.ts";
import { ASK_EVENT } from "../../home/notify_daemon.ts";
import type { EventData } from "../../protocol/frames.ts";
import { carriedAnswer } from "../../protocol/late_answer.ts";
import type { Push } from "../../protocol/push.ts";
import type { Reason } from "../../protocol/receipt.ts";
import type { Place, Target } from "../targets.ts";
import { type Asker, type Command, type InjectContext, paneContext, type TypingContext } from "./context.ts";
import { checkPane, type PaneCheck } from "./pane_check.ts";

/** A check that is older than this is repeated, in milliseconds: the disk may have stalled meanwhile. */
export const EARLY_MAX_MS = 200;
/** A check that began this long before its message came is repeated: the relay may have stalled meanwhile. */
export const REPEAT_AFTER_MS = 20;
/** Sessions whose next message may have its pane checked early. */
const EARLY_SESSIONS_MAX = 500;

export type FoundPane = CheckedPane | { kind: "refused"; reason: Reason };

interface CheckedPane extends EarlyCheck {
  kind: "found";
  target: Target;
}

interface EarlyCheck {
  check: PaneCheck;
  isMuted: boolean;
  /** How many inputs into the pane had begun before the check: after another one it is out of date. */
  begun: number;
  /** When the check began, by the clock's `elapsed`. */
  at: number;
}

/**
 * Resolves the session's name, and meanwhile checks the pane that it had last time. That check counts only if the name
 * still leads to the same pane of the same process; otherwise the right pane is checked now.
 */
export async function findPane(session: string, context: TypingContext): Promise<FoundPane> {
  const known = context.targets.known(session);
  const early = known && check(known, context);
  early?.catch(() => {});
  const resolved = await context.targets.resolve(session);
  if (resolved.kind === "refused") return resolved;
  const { target } = resolved;
  const isKnown = known !== undefined && isSame(known, target);
  return { kind: "found", target, ...await (isKnown && early || check(target, context)) };
}

/**
 * Finds the pane of a message; for a late answer, that of the agent that asked. If this host knows the agent, it is found
 * even after its session was renamed, and so is the agent for which a message waited. Once that one has ended, the message
 * goes by the session's name.
 */
export async function findAsked(
  command: Command,
  context: InjectContext,
  early: Pick<EarlyPanes, "take">,
): Promise<FoundPane> {
  const named = await early.take(command) ?? await findPane(command.session, context);
  const { asker, turn: { meant } } = command;
  const place = asker ?? meant;
  const run = asker?.run ?? command.run ?? meant?.run;
  if (isOfRun(named, run)) return named;
  const moved = place && await findPlace(place, context);
  if (moved !== undefined && isOfRun(moved, run)) return moved;
  // The agent has not ended: its session has a name to which nothing can be sent, and another one may have the old name.
  if (moved?.kind === "refused" && moved.reason === "invalid_session_name") return moved;
  if (asker === undefined && command.run === undefined) return named;
  return named.kind === "refused" ? named : { kind: "refused", reason: "session_changed" };
}

function isOfRun(found: FoundPane, run: string | undefined): boolean {
  return found.kind === "found" && (run === undefined || found.target.run === run);
}

async function findPlace(place: Place, context: InjectContext): Promise<FoundPane> {
  const resolved = await context.targets.follow(place);
  if (resolved.kind === "refused") return resolved;
  return { kind: "found", target: resolved.target, ...await check(resolved.target, context) };
}

async function check(target: Target, context: TypingContext): Promise<EarlyCheck> {
  const pane = paneContext(context, target);
  const [{ begun }, at] = [pane.input, context.elapsed()];
  const found = await checkPane(pane);
  const isMuted = found.kind === "ready" && await pane.effects.isMuted(found.pane.directory);
  return { check: found, isMuted, begun, at };
}

function isSame(one: Target, other: Target): boolean {
  const keys = Object.keys({ ...one, ...other }) as (keyof Target)[];
  return keys.every((key) => one[key] === other[key]);
}

/**
 * Checks that begin before their message is recorded: while the relay stores it, or this host records its acceptance.
 */
export class EarlyPanes {
  readonly #context: TypingContext;
  /** By session, the least recently begun first. */
  readonly #panes = new Map<string, { id: string; at: number; found: Promise<FoundPane | undefined> }>();

  constructor(context: TypingContext) {
    this.#context = context;
  }

  /**
   * A message may arrive soon. A relay that lies about this causes at most one check of a session in each EARLY_MAX_MS.
   */
  expect({ id, agentSessionName }: EventData<"push.soon">): void {
    const last = this.#panes.get(agentSessionName);
    const isRecent = last !== undefined && this.#context.elapsed() - last.at < EARLY_MAX_MS;
    if (!isRecent) this.begin({ id, type: "agent.command", agentSessionName });
  }

  /** Does nothing for a session that was never looked up, or that something is being typed into. */
  begin({ id, type, agentSessionName: session = "" }: Pick<Push, "id" | "type" | "agentSessionName">): void {
    if (type !== "agent.command") return;
    const { targets, inputs, elapsed } = this.#context;
    const last = this.#panes.get(session);
    if (last?.id === id && elapsed() - last.at < REPEAT_AFTER_MS) return;
    const known = targets.known(session);
    if (known === undefined || inputs.of(known).isTyping) return;
    this.#panes.delete(session);
    const found = findPane(session, this.#context).catch(() => undefined);
    setNewest(this.#panes, [session, { id, at: elapsed(), found }], { max: EARLY_SESSIONS_MAX });
  }

  /** What was found for this message, unless it is out of date. */
  async take({ id, session }: Pick<Command, "id" | "session">): Promise<FoundPane | undefined> {
    const pane = this.#panes.get(session);
    if (pane?.id !== id) return undefined;
    this.#panes.delete(session);
    const found = await pane.found;
    if (found?.kind !== "found") return undefined;
    return this.#context.elapsed() - found.at <= EARLY_MAX_MS ? found : undefined;
  }
}

/** Beyond this many questions the oldest is forgotten: its late answer then goes by the session's name. */
export const ASKERS_MAX = 500;

/**
 * Remembers which agent asked each question, from this host's own reports: a late answer follows that agent into a session
 * that was renamed meanwhile, and nothing that a relay writes beside a sealed answer chooses the session.
 */
export class Askers {
  /** By question, the oldest first. */
  readonly #askers = new Map<string, Asker>();

  /** Takes a report of `svc mcp`; the first one about a question counts. */
  hook({ event, ask, session, socket, pane, run }: HookReport): void {
    const isKnown = ask === undefined || this.#askers.has(ask);
    if (event !== ASK_EVENT || isKnown) return;
    if (session === undefined || socket === undefined || pane === undefined || run === undefined) return;
    setNewest(this.#askers, [ask, { session, socket, pane, run }], { max: ASKERS_MAX });
  }

  /**
   * The agent whose question this message answers. A phone's seal names the question only in an answer: a relay could
   * write any question beside another sealed message.
   */
  of(push: Pick<Push, "type" | "inReplyTo" | "data" | "sealed">): Asker | undefined {
    if (push.sealed !== undefined && carriedAnswer(push) === undefined) return undefined;
    return push.inReplyTo === undefined ? undefined : this.#askers.get(push.inReplyTo);
  }
}
