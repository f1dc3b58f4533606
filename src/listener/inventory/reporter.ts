/** Reports the inventory and the host's details to the relay (docs/specification.md, Inventory). */
import { systemClock } from "../../async/clock.ts";
import { errorText } from "../../async/error_text.ts";
import type { EventData } from "../../protocol/frames.ts";
import { HOST_DETAILS_MAX_BYTES, INVENTORY_HEARTBEAT_MS } from "../../protocol/limits.ts";
import {
  DETAILS_TYPE,
  type HostDetails,
  type ReportedDetails,
  type SessionEntry,
} from "../../protocol/session.ts";
import { Inventory, type InventoryOptions, POLL_GAP_MS, POLL_SOON_MS } from "./inventory.ts";
import { Wakeup } from "../../async/wakeup.ts";
import type { Config } from "../../home/config.ts";
import type { HookReport } from "../../home/control_socket.ts";
import type { HostKeys } from "../../home/host_sealing.ts";
import { Stopping } from "../inject/context.ts";
import type { Agents } from "../waiting_pushes.ts";
import { encodeUtf8 } from "../../async/encodings.ts";
import { sealForPhones } from "../../crypto/host_push.ts";
import type { NamedSession, OpenDialog, PlacedReport } from "./session_entry.ts";

/** Delay before a report is sent again after a rejection. It doubles with each further one, up to the heartbeat. */
const RETRY_MIN_MS = 1_000;

export interface ReportFacts {
  current: readonly SessionEntry[];
  /** The last report on this connection. */
  reported: readonly SessionEntry[] | undefined;
  /** The host's details have changed since that report. */
  hasNewDetails?: boolean;
  /** Milliseconds since that report. */
  sinceReportMs: number;
  /**
   * Set from a rejection until the relay stores a report: milliseconds after the last report at which the next one is
   * sent, Infinity until the last one was answered.
   */
  retryAfterMs?: number | undefined;
}

/**
 * A changed inventory is reported at once, an unchanged one as a heartbeat. After a rejection even a changed one waits
 * for the delay.
 */
export function shouldReport(
  { current, reported, hasNewDetails = false, sinceReportMs, retryAfterMs }: ReportFacts,
): "changed" | "retry" | "heartbeat" | undefined {
  if (reported === undefined) return "changed";
  const isChanged = hasNewDetails || JSON.stringify(current) !== JSON.stringify(reported);
  if (isChanged && retryAfterMs === undefined) return "changed";
  if (retryAfterMs !== undefined && sinceReportMs >= retryAfterMs) return "retry";
  return sinceReportMs >= INVENTORY_HEARTBEAT_MS ? "heartbeat" : undefined;
}

function rejectionDelayMs(rejections: number): number {
  return Math.min(INVENTORY_HEARTBEAT_MS, RETRY_MIN_MS * 2 ** rejections);
}

/** What is reported in addition to the sessions. */
export type Details = Pick<DetailsReport, "next" | "sent" | "forget">;

export interface ReporterOptions {
  details?: Details | undefined;
  /** False when there is no connection. */
  send(report: EventData<"listener.sessions">): boolean;
  log(line: string): void;
  /** Resolves after `ms`, or earlier when something happened; throws when the daemon stops. */
  pause(ms: number): Promise<void>;
  /** Takes every inventory that was read. */
  observed?(sessions: readonly SessionEntry[]): void;
  /** Milliseconds since some fixed moment: the wall clock may jump. */
  elapsed?(): number;
}

interface Report {
  sessions: readonly SessionEntry[];
  /** By `elapsed`. */
  at: number;
  /** As in ReportFacts. */
  retryAfterMs?: number;
}

export class Reporter {
  readonly #inventory: Pick<Inventory, "read" | "nextReadMs">;
  readonly #options: Required<Omit<ReporterOptions, "details">> & Pick<ReporterOptions, "details">;
  /** Why the details could not be read the last time. */
  #fault = "";
  #sequence = 0;
  #report: Report | undefined;
  /** Rejected reports since the last stored one. */
  #rejections = 0;
  #sessions: SessionEntry[] = [];

  constructor(inventory: Pick<Inventory, "read" | "nextReadMs">, options: ReporterOptions) {
    this.#inventory = inventory;
    this.#options = { elapsed: () => systemClock.elapsed(), observed: () => {}, ...options };
  }

  /** The last inventory that was read. */
  get sessions(): readonly SessionEntry[] {
    return this.#sessions;
  }

  /** A new connection begins: nothing was reported on it yet. */
  connected(): void {
    this.#report = undefined;
    this.#rejections = 0;
    this.#options.details?.forget();
  }

  /** The relay stored a report. */
  stored(count: number): void {
    this.#rejections = 0;
    if (this.#report !== undefined) delete this.#report.retryAfterMs;
    this.#options.log(`✓ server persisted ${count} session(s)`);
  }

  /** The relay rejected a report: the next one follows after a delay that doubles with each rejection. */
  rejected(reason: string): void {
    if (this.#report !== undefined) {
      const sinceReportMs = this.#options.elapsed() - this.#report.at;
      this.#report.retryAfterMs = sinceReportMs + rejectionDelayMs(this.#rejections++);
    }
    this.#options.details?.forget();
    this.#options.log(`! server rejected listener.sessions: ${reason}`);
  }

  /** Runs until `pause` throws. A failed read is logged, and the next one follows at its usual time. */
  async run(): Promise<void> {
    for (;;) {
      const isRead = await this.poll().then(() => true, (error) => {
        this.#options.log(`! cannot read the tmux sessions: ${errorText(error)}`);
        return false;
      });
      await this.#pause(isRead);
    }
  }

  async poll(): Promise<void> {
    const { elapsed, send, log } = this.#options;
    this.#sessions = await this.#inventory.read();
    this.#options.observed(this.#sessions);
    const details = await this.#dueDetails();
    const at = elapsed();
    const due = shouldReport({
      current: this.#sessions,
      reported: this.#report?.sessions,
      hasNewDetails: details !== undefined,
      sinceReportMs: at - (this.#report?.at ?? 0),
      retryAfterMs: this.#report?.retryAfterMs,
    });
    if (due === undefined) return;
    const report = { sequence: this.#sequence + 1, sessions: this.#sessions };
    if (!send({ ...report, ...(details === undefined ? {} : { details: details.reported }) })) {
      return void (this.#report = undefined);
    }
    if (details !== undefined) this.#options.details?.sent(details);
    this.#sequence += 1;
    this.#report = { sessions: this.#sessions, at, ...(this.#rejections > 0 && { retryAfterMs: Infinity }) };
    const names = this.#sessions.map((session) => session.name).join(", ");
    log(`reported ${this.#sessions.length} session(s): ${names}`);
  }

  /** The sessions are reported even if the host's files cannot be used. */
  async #dueDetails(): Promise<DueDetails | undefined> {
    try {
      const due = await this.#options.details?.next();
      this.#fault = "";
      return due;
    } catch (error) {
      const fault = errorText(error);
      if (fault !== this.#fault) this.#options.log(`! cannot report the host's details: ${fault}`);
      this.#fault = fault;
      return undefined;
    }
  }

  /** Hooks may end the pause as often as they like, so a minimum gap follows. */
  async #pause(isRead: boolean): Promise<void> {
    const { elapsed, pause } = this.#options;
    const since = elapsed();
    await pause(Math.min(this.#inventory.nextReadMs(), isRead ? this.#retryInMs(since) : Infinity));
    const left = since + POLL_GAP_MS - elapsed();
    if (left > 0) await pause(left);
  }

  #retryInMs(now: number): number {
    const { at, retryAfterMs } = this.#report ?? {};
    return at === undefined || retryAfterMs === undefined ? Infinity : Math.max(0, at + retryAfterMs - now);
  }
}

export interface InventoryPollingOptions extends InventoryOptions {
  details?: Details;
  /** False when there is no connection. */
  send(report: EventData<"listener.sessions">): boolean;
  log(line: string): void;
  /** Takes every inventory that was read. */
  observed?(sessions: readonly SessionEntry[]): void;
}

/** Runs inventory and reporter for as long as the listener runs. */
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
      ...(options.observed ? { observed: options.observed } : {}),
      details: options.details,
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

  placed(report: HookReport): PlacedReport {
    return this.#inventory.placed(report);
  }

  namedIn(report: PlacedReport): NamedSession | undefined {
    return this.#inventory.namedIn(report);
  }

  /** Where agents are by the last inventory. */
  get agents(): Agents {
    return this.#inventory;
  }

  lines(): Record<string, string> {
    return this.#inventory.lines();
  }

  dialogOf(session: string): OpenDialog | undefined {
    return this.#inventory.dialogOf(session);
  }

  readNow(): void {
    this.#wakeup.wake();
  }

  /** Something was typed: reads the inventory a moment later, after the input itself. */
  typed(): void {
    if (this.#end.signal.aborted) return;
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
    await this.#inventory.saved();
  }
}

/** Minimum time between two reports in which only lines have changed. */
export const LINES_GAP_MS = 3_000;

export type DetailFacts = Omit<HostDetails, "at">;

export interface DetailsReportOptions {
  /** Throws if the paired phones cannot be read, so that nothing is sent unsealed by mistake. */
  keys: Pick<HostKeys, "deviceId" | "knownPhones" | "floor">;
  config: Pick<Config, "requireEncryption">;
  facts(): Promise<DetailFacts>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Details that are due, until they were sent. */
export interface DueDetails {
  reported: ReportedDetails;
  /** What they were made from: the lines, and the rest. */
  digest: string;
  lines: string;
  /** Epoch milliseconds. */
  at: number;
}

/** The details of the host: sealed for the paired phones, and due only when they have changed. */
export class DetailsReport {
  readonly #options: DetailsReportOptions;
  #sent: { digest: string; lines: string; at: number } | undefined;

  constructor(options: DetailsReportOptions) {
    this.#options = options;
  }

  /** The due details; undefined if the relay has them, or if only lines have changed and LINES_GAP_MS is not over. */
  async next(): Promise<DueDetails | undefined> {
    const { keys, config, now } = this.#options;
    const [{ lines, ...found }, phones] = await Promise.all([this.#options.facts(), keys.knownPhones()]);
    // Only the relay could read them.
    const facts = phones.length > 0 || await keys.floor(config) !== "psk" ? found : {};
    // The relay must not read what is on a screen.
    const sealed = phones.length > 0 && lines !== undefined ? { lines } : {};
    const readers = phones.map(({ deviceId, publicKey }) => `${deviceId} ${publicKey}`).sort();
    const due = { digest: JSON.stringify([facts, readers]), lines: JSON.stringify(sealed), at: now() };
    if (!this.#isDue(due)) return undefined;
    const details = fitting({ at: due.at, ...facts, ...sealed });
    if (phones.length === 0) return { ...due, reported: { plain: details } };
    const boundTo = { id: "", type: DETAILS_TYPE, agentSessionName: "", host: keys.deviceId };
    const sealedFor = await sealForPhones(JSON.stringify(details), { boundTo, phones });
    return { ...due, reported: { sealedFor } };
  }

  #isDue({ digest, lines, at }: Omit<DueDetails, "reported">): boolean {
    if (this.#sent === undefined || this.#sent.digest !== digest) return true;
    return this.#sent.lines !== lines && Math.abs(at - this.#sent.at) >= LINES_GAP_MS;
  }

  sent({ digest, lines, at }: DueDetails): void {
    this.#sent = { digest, lines, at };
  }

  /** The relay may not have them: they are due again. */
  forget(): void {
    this.#sent = undefined;
  }
}

/**
 * Drops the last lines, then the projects that were learned first, then muted ones, until the rest fits into a report.
 */
function fitting(details: HostDetails): HostDetails {
  if (encodeUtf8(JSON.stringify(details)).length <= HOST_DETAILS_MAX_BYTES) return details;
  const lines = Object.entries(details.lines ?? {});
  if (lines.length > 0) {
    return fitting({ ...details, lines: Object.fromEntries(shorter(lines)) });
  }
  const { start, muted = [], ...rest } = details;
  if (start !== undefined && start.projects.length > 0) {
    return fitting({ ...details, start: { ...start, projects: shorter(start.projects) } });
  }
  return muted.length === 0 ? rest : fitting({ ...details, muted: shorter(muted) });
}

function shorter<T>(list: readonly T[]): T[] {
  return list.slice(0, -Math.ceil(list.length / 10));
}
