/** Ends agents that ignore SIGHUP once their terminal is gone, no matter who killed the session. */
import { agentProfile } from "../agents/profiles.ts";
import type { Clock } from "../async/clock.ts";
import { isAgentKind } from "../protocol/names.ts";
import type { Files } from "../runtime/types.ts";
import { endLeftovers, type LeftoverHost, processIdentity } from "../tmux/leftovers.ts";
import type { TmuxSession } from "../tmux/sessions.ts";

/** How often the terminals of such agents are checked, in milliseconds. */
export const TERMINAL_CHECK_MS = 1_000;
/** Linux appends this to the path of a deleted terminal. */
const GONE = / \(deleted\)$/;

export interface EndedAgentsOptions extends LeftoverHost {
  clock: Clock;
  files: Pick<Files, "readLink">;
  log(line: string): void;
}

export class EndedAgents {
  readonly #options: EndedAgentsOptions;
  /** By process id: the identity that distinguishes the process from a later one. */
  readonly #watched = new Map<number, string>();
  readonly #ending = new Set<Promise<void>>();
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(options: EndedAgentsOptions) {
    this.#options = options;
  }

  /** Takes all live sessions. The agent of a session that is gone has ended, even if its terminal cannot be checked. */
  async take(sessions: readonly TmuxSession[]): Promise<void> {
    const live = new Set<number>();
    for (const { recorded, pane } of sessions) {
      if (pane === undefined || !isAgentKind(recorded.agent) || !agentProfile(recorded.agent).ignoresHangup) {
        continue;
      }
      live.add(pane.pid);
      if (!this.#watched.has(pane.pid)) {
        this.#watched.set(pane.pid, await processIdentity(this.#options, pane.pid));
      }
    }
    for (const pid of this.#watched.keys()) if (!live.has(pid)) this.#end(pid);
    this.#checkLater();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#cancel?.();
    await Promise.all(this.#ending);
  }

  #checkLater(): void {
    if (this.#isOver || this.#cancel !== undefined || this.#watched.size === 0) return;
    this.#cancel = this.#options.clock.after(TERMINAL_CHECK_MS, () => {
      this.#cancel = undefined;
      void this.#check().finally(() => this.#checkLater());
    });
  }

  async #check(): Promise<void> {
    for (const pid of [...this.#watched.keys()]) {
      const terminal = await this.#options.files.readLink(`/proc/${pid}/fd/0`).catch(() => undefined);
      if (terminal !== undefined && GONE.test(terminal)) this.#end(pid);
    }
  }

  #end(pid: number): void {
    const identity = this.#watched.get(pid) ?? "";
    this.#watched.delete(pid);
    if (identity === "") return;
    const ending = endLeftovers(this.#options, { pid, identity }).catch((error) =>
      this.#options.log(`agent ${pid}: not ended: ${error}`)
    );
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
  }
}
