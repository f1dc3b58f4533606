/** The keystrokes of one phone's stream: opened in order, each typed at most once, rate-limited, and audited in bursts. */
import { Mutex } from "../../async/mutex.ts";
import type { Clock } from "../../async/clock.ts";
import type { FrameOpener } from "../../crypto/stream_frames.ts";
import { decodeKeyInput, type KeyInput } from "../../protocol/key_input.ts";
import type { KeyState } from "../../protocol/pane_frame.ts";
import type { Reason } from "../../protocol/receipt.ts";
import { costOf, type KeyLimit, type TypedInput } from "./keystroke_rules.ts";
import type { KeyOutcome } from "./type_keystroke.ts";
import { TURN_START_MS } from "../inject/pane_input.ts";
import type { AuditEntry } from "../../home/audit.ts";
import { canonicalDigest } from "../../protocol/canonical.ts";

/** Inputs that wait for the rate limit or for a dialog; beyond it they are refused. */
export const KEYS_WAITING_MAX = 1_000;
/** How long keys wait for a dialog to go: later ones would surprise. */
export const KEYS_HOLD_MS = 10_000;
/**
 * How long keys wait while an agent works. Longer than `TURN_START_MS`, so that an Enter that started no turn costs
 * nothing; no longer, because a key that interrupts waits behind them.
 */
export const KEYS_WORKING_HOLD_MS = TURN_START_MS + 1_500;
/** How long keys wait on an unrecognised screen, which may be half drawn. */
export const KEYS_UNKNOWN_HOLD_MS = 1_000;
/** How often a held key looks again. */
export const KEYS_HOLD_STEP_MS = 200;

export interface KeysHost {
  opener: FrameOpener;
  /** Of the session: all its phones share it. */
  limit: KeyLimit;
  clock: Pick<Clock, "elapsed" | "after">;
  type(input: TypedInput): Promise<KeyOutcome>;
  fit(input: Extract<KeyInput, { type: "fit" | "unfit" }>): Promise<void>;
  tell(state: KeyState): void;
  audit(input: TypedInput, outcome: string): void;
  /** The stream cannot go on: frames were lost, or do not open. */
  end(reason: "unsealable" | "keys_lost"): void;
  /** A frame was dropped, for the first time for this reason: only somebody in between repeats or changes one. */
  dropped(reason: "repeated" | "unsealable"): void;
  /** Something broke that should not; the key counts as refused. */
  failed(error: unknown): void;
}

interface Waiting {
  sequence: number;
  input: KeyInput;
  at: number;
}

export class Keys {
  readonly #host: KeysHost;
  #next = 0n;
  #waiting: Waiting[] = [];
  #isWorking = false;
  #isOver = false;
  #wake: () => void = () => {};
  /** Reasons that were told of: a flood of bad frames is no flood of words. */
  readonly #droppedFor = new Set<string>();

  constructor(host: KeysHost) {
    this.#host = host;
  }

  /** Frames that were taken so far. */
  get received(): number {
    return Number(this.#next);
  }

  /**
   * The payload of a keystroke frame. A repeated one is dropped; a gap means that keys are lost, and ends the stream.
   */
  async receive(payload: Uint8Array): Promise<void> {
    const opened = await this.#host.opener.open(payload);
    if (this.#isOver) return;
    if (opened.kind === "dropped") return this.#dropped(opened.reason);
    if (opened.kind === "broken") return this.#host.end("unsealable");
    if (opened.sequence !== this.#next) return this.#host.end("keys_lost");
    this.#next += 1n;
    this.#accept(Number(opened.sequence), decodeKeyInput(opened.bytes));
  }

  /** What still waits is not typed. */
  close(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#wake();
  }

  #dropped(why: "repeated" | "unopenable"): void {
    const reason = why === "repeated" ? why : "unsealable";
    if (this.#droppedFor.has(reason)) return;
    this.#droppedFor.add(reason);
    this.#host.tell({ sequence: this.received, state: "refused", reason });
    this.#host.dropped(reason);
  }

  #accept(sequence: number, input: KeyInput | undefined): void {
    const { tell, clock } = this.#host;
    if (input === undefined) return tell({ sequence, state: "refused", reason: "invalid_body" });
    if (this.#waiting.length >= KEYS_WAITING_MAX) {
      return tell({ sequence, state: "refused", reason: "rate_limited" });
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
    this.#isWorking = false;
  }

  async #workOne({ sequence, input, at }: Waiting): Promise<void> {
    try {
      if (input.type === "fit" || input.type === "unfit") return await this.#host.fit(input);
      const outcome = await this.#typed(input, { sequence, at });
      if (outcome === undefined) return;
      const reason = outcome.state === "typed" ? undefined : outcome.reason;
      this.#host.audit(input, ["keys", outcome.state, ...(reason ? [reason] : [])].join(" "));
      if (reason !== undefined || this.#waiting.length === 1) this.#host.tell({ sequence, ...outcome });
    } catch (error) {
      this.#host.failed(error);
      this.#host.tell({ sequence, state: "refused", reason: "tmux_failed" });
    }
  }

  /** Undefined when the stream ended before it was typed. */
  async #typed(
    input: TypedInput,
    { sequence, at }: { sequence: number; at: number },
  ): Promise<KeyOutcome | undefined> {
    const { clock, limit, type, tell } = this.#host;
    const cost = costOf(input);
    for (let wait = limit.take(cost, clock.elapsed()); wait > 0; wait = limit.take(cost, clock.elapsed())) {
      await this.#pause(wait);
      if (this.#isOver) return undefined;
    }
    for (let isReported = false; !this.#isOver;) {
      const waited = clock.elapsed() - at;
      const outcome = await type(input);
      if (outcome.state !== "held") return outcome;
      if (waited >= holdMs(outcome.reason)) return { ...outcome, state: "refused" };
      if (!isReported && outcome.reason !== "unknown_screen") {
        tell({ sequence, ...outcome });
        isReported = true;
      }
      await this.#pause(KEYS_HOLD_STEP_MS);
    }
    return undefined;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#host.clock.after(ms, resolve);
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

/** A burst ends after so long without input. */
export const BURST_CALM_MS = 2_000;
/** Characters of one burst. */
export const BURST_MAX_CHARS = 16_384;

export interface KeysAuditOptions {
  clock: Clock;
  /** Who types where. */
  names: Pick<AuditEntry, "device" | "session" | "pane">;
  record(entry: AuditEntry): void;
}

export class KeysAudit {
  readonly #options: KeysAuditOptions;
  #text = "";
  #outcome = "";
  #cancel: () => void = () => {};
  /** Entries that are being digested. */
  readonly #writing = new Mutex();

  constructor(options: KeysAuditOptions) {
    this.#options = options;
  }

  /** `outcome` as in an audit entry. Another outcome begins another burst. */
  add(input: TypedInput, outcome: string): void {
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
