/**
 * Remembers which agent asked each question, from this host's own reports: a late answer follows that agent into a session
 * that was renamed meanwhile, and nothing that a relay writes beside a sealed answer chooses the session.
 */
import type { HookReport } from "../home/control_socket.ts";
import { ASK_EVENT } from "../home/notify_daemon.ts";
import { carriedAnswer } from "../protocol/late_answer.ts";
import type { Push } from "../protocol/push.ts";
import type { Asker } from "./inject/context.ts";

/** Beyond this many questions the oldest is forgotten: its late answer then goes by the session's name. */
export const ASKERS_MAX = 500;

export class Askers {
  /** By question, the oldest first. */
  readonly #askers = new Map<string, Asker>();

  /** Takes a report of `svc mcp`; the first one about a question counts. */
  hook({ event, ask, session, socket, pane, run }: HookReport): void {
    const isKnown = ask === undefined || this.#askers.has(ask);
    if (event !== ASK_EVENT || isKnown) return;
    if (session === undefined || socket === undefined || pane === undefined || run === undefined) return;
    this.#askers.set(ask, { session, socket, pane, run });
    const [oldest] = this.#askers.keys();
    if (this.#askers.size > ASKERS_MAX && oldest !== undefined) this.#askers.delete(oldest);
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
