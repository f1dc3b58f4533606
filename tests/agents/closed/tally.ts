/** Counts what a crawl sent and how the host responded. */
import type { KeyState } from "../../../src/protocol/pane_frame.ts";
import { parseAuditLine } from "../../../src/home/log_files.ts";

export class Tally {
  sequences = 0;
  /** Live inputs that were sent. */
  inputs = 0;
  messages = 0;
  /** Inputs and messages that could not be sent: the mirror was not live, or the relay refused them. */
  unsent = 0;
  /** Times that the agent had ended and was started again. */
  restarts = 0;
  /** Times that the person at the computer ended the agent, because nothing else led back to its input line. */
  resets = 0;
  /** Times that a new agent in the same home did not reach its input line, so the crawl continued in a new home. */
  lost = 0;
  /** Times that the person at the computer pressed Esc at a dialog. */
  rejected = 0;
  /** Probes at the end that opened the dialog. */
  probes = 0;
  readonly outcomes = new Map<string, number>();

  /** Adds the states of a phone's keys: each refusal, and each key that was held. */
  readKeys(states: readonly KeyState[]): void {
    for (const { state, reason } of states) if (state !== "typed") this.#add(`keys ${state} ${reason}`);
  }

  /** Adds the outcomes of messages in the host's audit log. */
  async readAudit(path: string): Promise<void> {
    const text = await Deno.readTextFile(path).catch(() => "");
    for (const line of text.split("\n")) {
      const outcome = parseAuditLine(line)?.outcome;
      if (outcome !== undefined && !outcome.startsWith("keys ")) this.#add(`message ${outcome}`);
    }
  }

  /** Inputs that were sent and not refused. */
  get keysTaken(): number {
    const refused = [...this.outcomes].filter(([name]) => name.startsWith("keys refused"));
    return this.inputs - refused.reduce((sum, [, count]) => sum + count, 0);
  }

  #add(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  /** Formats `keys taken 210, keys refused dialog_open 14`. */
  describe(): string {
    const counts = [...this.outcomes].toSorted(([, one], [, other]) => other - one);
    return [["keys taken", this.keysTaken], ...counts].map(([outcome, count]) => `${outcome} ${count}`)
      .join(", ");
  }
}
