/** Reads and reports the inventory for as long as the listener runs: at its pace, and early when something happens. */
import { Wakeup } from "../../async/wakeup.ts";
import type { HookReport } from "../../home/control_messages.ts";
import type { EventData } from "../../protocol/frames.ts";
import { Stopping } from "../inject/outcome.ts";
import { Inventory, type InventoryOptions, POLL_SOON_MS } from "./inventory.ts";
import { Reporter } from "./reporter.ts";

export interface InventoryPollingOptions extends InventoryOptions {
  /** False when there is no connection. */
  send(report: EventData<"listener.sessions">): boolean;
  log(line: string): void;
}

export class InventoryPolling {
  readonly #inventory: Inventory;
  readonly #reporter: Reporter;
  readonly #wakeup = new Wakeup();
  readonly #end = new AbortController();
  #running: Promise<void> | undefined;
  #soon: ReturnType<typeof setTimeout> | undefined;

  constructor(options: InventoryPollingOptions) {
    this.#inventory = new Inventory(options);
    this.#reporter = new Reporter(this.#inventory, {
      send: options.send,
      log: options.log,
      pause: (ms) => this.#wakeup.sleep(ms, this.#end.signal),
    });
  }

  start(): void {
    this.#running = this.#reporter.run().catch((error) => {
      if (!(error instanceof Stopping)) throw error;
    });
  }

  /** Sessions in the last inventory. */
  get sessions(): number {
    return this.#reporter.sessions.length;
  }

  /** Takes a hook's report and reads the inventory now. */
  hook(report: HookReport): void {
    this.#inventory.take(report);
    this.readNow();
  }

  readNow(): void {
    this.#wakeup.wake();
  }

  /** Something was typed: reads the inventory a moment later, after the input itself. */
  typed(): void {
    this.#inventory.readSoon();
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.readNow();
    }, POLL_SOON_MS);
  }

  /** A new connection to the relay. */
  connected(): void {
    this.#reporter.connected();
    this.readNow();
  }

  /** The relay stored a report. */
  stored(count: number): void {
    this.#reporter.stored(count);
  }

  /** The relay rejected a report. */
  rejected(reason: string): void {
    this.#reporter.rejected(reason);
    this.readNow();
  }

  /** Ends the polling; a read in progress still finishes. */
  stop(): void {
    this.#end.abort(new Stopping("the daemon stops"));
  }

  async close(): Promise<void> {
    this.stop();
    clearTimeout(this.#soon);
    await this.#running;
  }
}
