/** The keystrokes of one phone's stream: opened in order, each typed at most once, rate-limited, and audited in bursts. */
import { Mutex } from "../../async/mutex.ts";
import type { Clock } from "../../async/clock.ts";
import type { FrameOpener } from "../../crypto/stream.ts";
import {
  decodeKeyInput,
  decodeUpload,
  type KeyInput,
  type ReadInput,
  type UploadInput,
} from "../../protocol/key_input.ts";
import type { KeyState } from "../../protocol/pane_frame.ts";
import type { Reason } from "../../protocol/receipt.ts";
import { costOf, type Keystroke, type KeystrokeLimit } from "./keystroke_rules.ts";
import type { KeystrokeOutcome, KeystrokeWait } from "./type_keystroke.ts";
import { TURN_START_MS } from "../inject/pane_input.ts";
import type { AuditEntry } from "../../protocol/audit.ts";
import { canonicalDigest } from "../../protocol/canonical.ts";

/** Keystrokes that may wait for the rate limit or a dialog; more are refused. */
export const KEYS_WAITING_MAX = 1_000;
/** How long keys wait for a dialog to close, or for a message that is being typed: after that they would come as a surprise. */
export const KEYS_HOLD_MS = 10_000;
/**
 * How long keys wait while an agent works. Longer than `TURN_START_MS`, so that no key is lost behind an Enter that
 * started no turn; not much longer, because a key that interrupts may wait behind them.
 */
export const KEYS_WORKING_HOLD_MS = TURN_START_MS + 1_500;
/** How long keys wait on an unrecognized screen, which may be half drawn, before the phone is notified. */
export const KEYS_UNKNOWN_HOLD_MS = 1_000;
/** How often a held key checks its pane again. */
export const KEYS_HOLD_STEP_MS = 200;

/**
 * A key is not typed if the phone had not even received a pulse of this long ago when it was pressed: someone held back
 * either direction. On a slow network, output that is on its way delays the pulses, too.
 */
export const KEYS_AGE_MS = 60_000;

export interface KeystrokeStreamOptions {
  opener: FrameOpener;
  /** The session's, shared by all its phones. */
  limit: KeystrokeLimit;
  clock: Pick<Clock, "elapsed" | "after">;
  type(input: Keystroke, wait: KeystrokeWait): Promise<KeystrokeOutcome>;
  fit(input: Extract<KeyInput, { type: "fit" | "unfit" }>): Promise<void>;
  /** A part of a file; it does not wait for the keys. */
  upload(input: UploadInput): void;
  /** Asks for something to read, such as a part of a card's request. */
  read(input: ReadInput): void;
  sendState(state: KeyState): void;
  audit(input: Keystroke, outcome: string): void;
  /** The stream cannot continue: frames were lost, came much too late, or cannot be opened. */
  end(reason: "unsealable" | "keys_lost"): void;
  /** A frame was dropped, for the first time for this reason. It was repeated or tampered with. */
  dropped(reason: "repeated" | "unsealable"): void;
  /** An unexpected error; the key counts as refused. */
  failed(error: unknown): void;
}

interface Waiting {
  sequence: number;
  input: KeyInput;
  at: number;
}

export class KeystrokeStream {
  readonly #options: KeystrokeStreamOptions;
  #next = 0n;
  /** By the clock's `elapsed`: when each pulse of the last KEYS_AGE_MS was sent. */
  #pulses: number[] = [];
  /** Number of pulses before these. */
  #oldPulses = 0;
  #waiting: Waiting[] = [];
  #isWorking = false;
  #isOver = false;
  #wake: () => void = () => {};
  /** By the clock's `elapsed`: since when every check has found an unrecognized screen. */
  #unknownSince: number | undefined;
  /**
   * By the clock's `elapsed`: when the last keystroke was typed. Until then, those behind it waited only for their
   * turn.
   */
  #typedAt = -Infinity;
  /** Why a waiting keystroke was last held. */
  #heldFor: Reason | undefined;
  /** Reasons already reported: each is reported once. */
  readonly #droppedFor = new Set<string>();

  constructor(options: KeystrokeStreamOptions) {
    this.#options = options;
  }

  /** Number of frames received so far. */
  get received(): number {
    return Number(this.#next);
  }

  /** Call this when a pulse is sent. Returns its number. */
  pulse(): number {
    this.#countOld();
    this.#pulses.push(this.#options.clock.elapsed());
    return this.#oldPulses + this.#pulses.length;
  }

  /** True for a key that was pressed before the phone had received a pulse of KEYS_AGE_MS ago. An older page names none. */
  #isOld(input: KeyInput | undefined): boolean {
    this.#countOld();
    return (input?.pulse ?? Infinity) < this.#oldPulses;
  }

  #countOld(): void {
    const oldest = this.#options.clock.elapsed() - KEYS_AGE_MS;
    while ((this.#pulses[0] ?? Infinity) < oldest) {
      this.#pulses.shift();
      this.#oldPulses++;
    }
  }

  /**
   * Takes the payload of a keystroke frame. A repeated frame is dropped; a gap means that keys were lost, and ends the stream.
   */
  async receive(payload: Uint8Array): Promise<void> {
    const opened = await this.#options.opener.open(payload);
    if (this.#isOver) return;
    if (opened.kind === "dropped") return this.#dropped(opened.reason);
    if (opened.kind === "broken") return this.#options.end("unsealable");
    if (opened.sequence !== this.#next) return this.#options.end("keys_lost");
    this.#next += 1n;
    const upload = decodeUpload(opened.bytes);
    if (upload?.type === "card.part" || upload?.type === "audit.read") return this.#options.read(upload);
    if (upload !== undefined) return this.#options.upload(upload);
    const input = decodeKeyInput(opened.bytes);
    if (this.#isOld(input)) return this.#options.end("keys_lost");
    this.#accept(Number(opened.sequence), input);
  }

  /** Keystrokes that still wait are not typed. */
  close(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#wake();
  }

  #dropped(why: "repeated" | "unopenable"): void {
    const reason = why === "repeated" ? why : "unsealable";
    if (this.#droppedFor.has(reason)) return;
    this.#droppedFor.add(reason);
    this.#options.sendState({ sequence: this.received, state: "refused", reason });
    this.#options.dropped(reason);
  }

  #accept(sequence: number, input: KeyInput | undefined): void {
    const { sendState, clock } = this.#options;
    if (input === undefined) return sendState({ sequence, state: "refused", reason: "invalid_body" });
    if (this.#waiting.length >= KEYS_WAITING_MAX) {
      return sendState({ sequence, state: "refused", reason: "rate_limited" });
    }
    this.#waiting.push({ sequence, input, at: clock.elapsed() });
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (let next = this.#waiting[0]; next !== undefined && !this.#isOver; next = this.#waiting[0]) {
      await this.#workOne(next);
      this.#waiting.shift();
    }
    this.#heldFor = undefined;
    this.#isWorking = false;
  }

  async #workOne({ sequence, input, at }: Waiting): Promise<void> {
    try {
      if (input.type === "fit" || input.type === "unfit") return await this.#options.fit(input);
      const outcome = await this.#typed(input, { sequence, at });
      if (outcome === undefined) return;
      const reason = "reason" in outcome ? outcome.reason : undefined;
      if (outcome.state === "typed" || outcome.state === "unknown") {
        this.#typedAt = this.#options.clock.elapsed();
      }
      this.#options.audit(input, ["keys", outcome.state, ...(reason ? [reason] : [])].join(" "));
      if (outcome.state !== "typed" || this.#waiting.length === 1) {
        this.#options.sendState({ sequence, ...outcome });
      }
    } catch (error) {
      this.#options.failed(error);
      this.#options.sendState({ sequence, state: "refused", reason: "tmux_failed" });
    }
  }

  /** Undefined if the stream ended before the keystroke was typed. */
  async #typed(
    input: Keystroke,
    { sequence, at }: { sequence: number; at: number },
  ): Promise<Exclude<KeystrokeOutcome, { state: "late" }> | undefined> {
    const { clock, limit, type, sendState } = this.#options;
    const cost = costOf(input);
    let paced = 0;
    for (let wait = limit.take(cost, clock.elapsed()); wait > 0; wait = limit.take(cost, clock.elapsed())) {
      await this.#pause(wait);
      if (this.#isOver) return undefined;
      paced += wait;
      this.#unknownSince = undefined;
    }
    const begun = clock.elapsed();
    const mayType = (): boolean =>
      !this.#isOver && clock.elapsed() - Math.max(at + paced, this.#typedAt) < KEYS_HOLD_MS;
    let dialogSince: number | undefined;
    for (let isReported = false; !this.#isOver;) {
      const now = clock.elapsed();
      const dialogMs = dialogSince === undefined ? undefined : now - dialogSince;
      const outcome = await type(input, { mayType, dialogMs });
      const isUnknown = outcome.state === "held" && outcome.reason === "unknown_screen";
      this.#unknownSince = isUnknown ? this.#unknownSince ?? now : undefined;
      if (outcome.state === "late") return this.#late();
      if (outcome.state !== "held") return outcome;
      this.#heldFor = outcome.reason;
      if (outcome.reason === "dialog_open") dialogSince ??= now;
      // A single half-drawn screen refuses no key, however long that has waited for something else.
      const heldSince = Math.max(at, this.#unknownSince ?? at);
      if (now - heldSince >= holdMs(outcome.reason)) return { ...outcome, state: "refused" };
      const mayBeHalfDrawn = isUnknown ||
        outcome.reason === "agent_starting" && now - begun < KEYS_UNKNOWN_HOLD_MS;
      if (!isReported && !mayBeHalfDrawn) {
        sendState({ sequence, ...outcome });
        isReported = true;
      }
      await this.#pause(KEYS_HOLD_STEP_MS);
    }
    return undefined;
  }

  #late(): { state: "refused"; reason: Reason } | undefined {
    return this.#isOver ? undefined : { state: "refused", reason: this.#heldFor ?? "screen_stale" };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

function holdMs(reason: Reason): number {
  switch (reason) {
    case "agent_working":
      return KEYS_WORKING_HOLD_MS;
    case "unknown_screen":
      return KEYS_UNKNOWN_HOLD_MS;
    default:
      return KEYS_HOLD_MS;
  }
}

/** A burst ends after this long without input. */
export const BURST_CALM_MS = 2_000;
/** Maximum characters of a burst. */
export const BURST_MAX_CHARS = 16_384;

export interface KeystrokeAuditOptions {
  clock: Clock;
  /** The device that types, and the pane that it types into. */
  names: Pick<AuditEntry, "device" | "session" | "pane">;
  record(entry: AuditEntry): void;
}

export class KeystrokeAudit {
  readonly #options: KeystrokeAuditOptions;
  #text = "";
  #outcome = "";
  #cancel: () => void = () => {};
  /** Entries whose digest is being computed. */
  readonly #writing = new Mutex();

  constructor(options: KeystrokeAuditOptions) {
    this.#options = options;
  }

  /** `outcome` as in an audit entry. A different outcome starts a new burst. */
  add(input: Keystroke, outcome: string): void {
    if (outcome !== this.#outcome || this.#text.length > BURST_MAX_CHARS) this.#end();
    this.#outcome = outcome;
    this.#text += input.type === "key" ? `<${input.key}>` : input.text;
    this.#cancel();
    this.#cancel = this.#options.clock.after(BURST_CALM_MS, () => this.#end());
  }

  /** Resolves once everything is recorded. */
  async close(): Promise<void> {
    this.#end();
    await this.#writing.idle();
  }

  #end(): void {
    this.#cancel();
    const { names, clock, record } = this.#options;
    const [text, outcome] = [this.#text, this.#outcome];
    this.#text = "";
    if (text === "") return;
    const time = new Date(clock.now()).toISOString();
    void this.#writing.run(async () => {
      record({ time, ...names, digest: await canonicalDigest(text), length: text.length, outcome });
    });
  }
}
