/** Reads a host's audit log, a page at a time, newest first, over a sealed mirror of one of its sessions. */
import { type Clock, systemClock } from "../async/clock.ts";
import type { AuditEntry } from "../protocol/audit.ts";
import { ASK_AGAIN_MS, SILENT_MS } from "./whole_request.ts";
import type { HostSession, SessionName } from "./sessions.ts";
import type { TerminalStream } from "./terminal_stream.ts";
import type { TerminalViewer } from "./terminal_streams.ts";

export interface AuditState {
  /** Newest first. */
  entries: readonly AuditEntry[];
  /** `failed`: reading can be tried again. `unpaired`: this phone shares no secret with the host. */
  kind: "reading" | "read" | "failed" | "unpaired";
  /** The host has older ones. */
  more: boolean;
}

interface AuditOptions {
  session: SessionName;
  open(name: SessionName, viewer: TerminalViewer): Pick<TerminalStream, "upload" | "close"> | undefined;
  onState(state: AuditState): void;
  clock?: Clock;
}

/** The session of a host to ask by: any that runs. */
export function auditSession(sessions: readonly HostSession[]): SessionName | undefined {
  const found = sessions.find(({ entry }) => entry.state !== "exited");
  return found && { deviceId: found.deviceId, session: found.entry.name };
}

export class AuditLog {
  readonly #options: AuditOptions;
  readonly #clock: Clock;
  #state: AuditState = { entries: [], kind: "read", more: true };
  #stream: Pick<TerminalStream, "upload" | "close"> | undefined;
  #isLive = false;
  #heardAt = 0;
  #cancelWait: () => void = () => {};

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Reads the next older page. */
  readOlder(): void {
    if (this.#state.kind === "reading" || this.#state.kind === "unpaired") return;
    this.#heardAt = this.#clock.elapsed();
    this.#set({ kind: "reading" });
    this.#stream ??= this.#options.open(this.#options.session, this.#viewer);
    this.#ask();
  }

  close(): void {
    this.#cancelWait();
    this.#stream?.close();
  }

  /** The stream mirrors the session as well; what it draws goes nowhere. */
  readonly #viewer: TerminalViewer = {
    terminal: { write: (_data, done) => done?.(), resize: () => {}, input: () => {} },
    onState: (state) => {
      this.#isLive = state.kind === "live";
      if (state.kind === "live" && state.sealing !== "psk") return this.#end("unpaired");
      if (state.kind === "ended" && state.lasting) return this.#end("failed");
      if (this.#isLive) this.#ask();
    },
    onStatus: ({ audit }) => {
      // A page that was asked for twice comes twice.
      if (
        audit === undefined || this.#state.kind !== "reading" || audit.skip !== this.#state.entries.length
      ) {
        return;
      }
      this.#cancelWait();
      this.#set({
        kind: "read",
        entries: [...this.#state.entries, ...audit.entries],
        more: audit.more && audit.entries.length > 0,
      });
    },
    onDrawn: () => {},
  };

  /** Asks until the host answers: it may have had to slow this phone down. */
  #ask(): void {
    this.#cancelWait();
    if (this.#state.kind !== "reading") return;
    if (this.#clock.elapsed() - this.#heardAt >= SILENT_MS) return this.#end("failed");
    if (this.#isLive) void this.#stream?.upload({ type: "audit.read", skip: this.#state.entries.length });
    this.#cancelWait = this.#clock.after(ASK_AGAIN_MS, () => this.#ask());
  }

  #end(kind: "failed" | "unpaired"): void {
    if (this.#state.kind !== "reading") return;
    this.#cancelWait();
    this.#stream?.close();
    this.#stream = undefined;
    this.#isLive = false;
    this.#set({ kind });
  }

  #set(change: Partial<AuditState>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.onState(this.#state);
  }
}
