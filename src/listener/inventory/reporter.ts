/** Polls the inventory and reports it to the relay when it changed, and as a heartbeat (spec, sections 1 and 6). */
import { errorText } from "../../async/error_text.ts";
import type { EventData } from "../../protocol/frames.ts";
import type { SessionEntry } from "../../protocol/session.ts";
import { LOOK_GAP_MS } from "./inventory.ts";
import { INVENTORY_HEARTBEAT_MS } from "../../protocol/limits.ts";

export interface ReporterHost {
  now(): number;
  read(): Promise<SessionEntry[]>;
  /** False when there is no connection. */
  send(report: EventData<"listener.sessions">): boolean;
  log(line: string): void;
  /** Resolves after `ms`, or earlier when `poke` says so; throws when the daemon stops. */
  pause(ms: number): Promise<void>;
  /** Milliseconds until the next look. */
  nextReadMs(): number;
}

export class Reporter {
  #host: ReporterHost;
  #sequence = 0;
  #reported: SessionEntry[] | undefined;
  #reportedAt = 0;
  #last: SessionEntry[] = [];

  constructor(host: ReporterHost) {
    this.#host = host;
  }

  /** The last inventory that was read. */
  get sessions(): readonly SessionEntry[] {
    return this.#last;
  }

  /** A new connection knows nothing yet, and a rejected report counts as not made. */
  forget(): void {
    this.#reported = undefined;
  }

  /** Runs until `pause` throws. A failed look is logged, and the next one comes at its time. */
  async run(): Promise<void> {
    for (;;) {
      try {
        await this.poll();
      } catch (error) {
        this.#host.log(`! cannot read the tmux sessions: ${errorText(error)}`);
      }
      await this.#pause();
    }
  }

  /** Cut short by reports, which may come at any rate. */
  async #pause(): Promise<void> {
    const { now, pause, nextReadMs } = this.#host;
    const since = now();
    await pause(nextReadMs());
    const left = since + LOOK_GAP_MS - now();
    if (left > 0) await pause(left);
  }

  async poll(): Promise<void> {
    this.#last = await this.#host.read();
    const now = this.#host.now();
    const due = shouldReport({
      current: this.#last,
      reported: this.#reported,
      sinceReportMs: now - this.#reportedAt,
    });
    if (due === undefined) return;
    if (!this.#host.send({ sequence: this.#sequence + 1, sessions: this.#last })) return;
    this.#sequence += 1;
    this.#reported = this.#last;
    this.#reportedAt = now;
    const names = this.#last.map((session) => session.name).join(", ");
    this.#host.log(`reported ${this.#last.length} session(s): ${names}`);
  }
}

export interface ReportFacts {
  current: readonly SessionEntry[];
  /** What was last reported on this connection; undefined right after connecting. */
  reported: readonly SessionEntry[] | undefined;
  /** Milliseconds since that report. */
  sinceReportMs: number;
}

/** A changed inventory at once, an unchanged one as the idle heartbeat. */
export function shouldReport(
  { current, reported, sinceReportMs }: ReportFacts,
): "changed" | "heartbeat" | undefined {
  if (reported === undefined || JSON.stringify(current) !== JSON.stringify(reported)) return "changed";
  return sinceReportMs >= INVENTORY_HEARTBEAT_MS ? "heartbeat" : undefined;
}
