/** Records the states of a session, in order, as a phone sees them in the list. */
import type { AgentState } from "../../src/protocol/session.ts";
import type { Stack } from "../helpers/stack.ts";
import { untilTold } from "./phone.ts";

/** `gone`: the list no longer has the session. */
export type SeenState = AgentState | "gone";

export class StateWatch {
  /** Each state that differs from the one before. */
  readonly seen: SeenState[] = [];
  readonly #stack: Stack;
  readonly #session: string;

  constructor(stack: Stack, session: string) {
    this.#stack = stack;
    this.#session = session;
  }

  /** Resolves once the list shows one of the states. */
  async until(...states: SeenState[]): Promise<void> {
    const what = (): string => `"${states}" in the list, after "${this.seen}"`;
    await untilTold(what, async () => {
      const now = await this.#look();
      return states.includes(now) ? now : undefined;
    });
  }

  async #look(): Promise<SeenState> {
    const { devices } = await this.#stack.api.sessions();
    const sessions = devices.flatMap((device) => device.sessions);
    const now = sessions.find(({ name }) => name === this.#session)?.state ?? "gone";
    const isAwaited = this.seen.length === 0 && now === "gone";
    if (!isAwaited && now !== this.seen.at(-1)) this.seen.push(now);
    return now;
  }
}
