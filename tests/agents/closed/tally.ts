/** What a crawl sent and what the host said to it. */
import { parseAuditLine } from "../../../src/home/audit.ts";

export class Tally {
  sequences = 0;
  /** Live inputs that went out. */
  inputs = 0;
  messages = 0;
  /** What could not be sent: the mirror was not live, or the relay refused it. */
  unsent = 0;
  /** The agent had ended and was started again. */
  restarts = 0;
  /** The person at the computer ended it, because nothing else led back to its input line. */
  resets = 0;
  /** Times that the person at the computer pressed Esc at a dialog. */
  rejected = 0;
  /** Probes that opened the dialog at the end. */
  probes = 0;
  readonly outcomes = new Map<string, number>();

  /** Adds the outcomes of the host's audit log. */
  async readAudit(path: string): Promise<void> {
    const text = await Deno.readTextFile(path).catch(() => "");
    for (const line of text.split("\n")) {
      const outcome = parseAuditLine(line)?.outcome;
      if (outcome !== undefined) this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    }
  }

  /** `keys typed 210, keys refused dialog_open 14`. */
  describe(): string {
    const counts = [...this.outcomes].toSorted(([, one], [, other]) => other - one);
    return counts.map(([outcome, count]) => `${outcome} ${count}`).join(", ");
  }
}
