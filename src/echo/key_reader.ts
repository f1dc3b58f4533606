/** Turns a terminal's bytes into keys, typed text and pastes, wherever the chunks are cut. */

export type Key =
  /** Typed characters, including a line feed (Ctrl-J). */
  | { kind: "text"; text: string }
  /** The content of a bracketed paste, with CR and CRLF turned into LF. */
  | { kind: "paste"; text: string }
  | { kind: "enter" | "escape" | "backspace" | "clear" | "interrupt" | "up" | "down" };

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** A control sequence (ECMA-48, section 5.4) or an SS3 function key. */
const SEQUENCE = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])/;
const SEQUENCE_BEGUN = /^\x1b(?:\[[0-?]*[ -/]*|O)?$/;
const TEXT = /^[^\x00-\x08\x0b-\x1f\x7f]+/;
/** Longer pastes are cut, to keep the draft bounded. */
const PASTE_MAX_CHARS = 1_000_000;

const CONTROL_KEYS: Readonly<Record<string, Key["kind"] & ("enter" | "backspace" | "clear" | "interrupt")>> =
  {
    "\r": "enter",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x15": "clear",
    "\x03": "interrupt",
  };
const SEQUENCE_KEYS: Readonly<Record<string, "up" | "down" | "enter">> = {
  "\x1b[A": "up",
  "\x1bOA": "up",
  "\x1b[B": "down",
  "\x1bOB": "down",
  "\x1bOM": "enter",
};

export class KeyReader {
  /** `ignoreBOM` keeps a byte order mark: it is part of the input. */
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The beginning of an incomplete sequence. */
  #rest = "";
  /** The paste so far; undefined outside a paste. */
  #paste: string | undefined;

  /** True after a lone Escape or an incomplete sequence: only time tells which it is. */
  get isWaiting(): boolean {
    return this.#rest !== "" && this.#paste === undefined;
  }

  push(bytes: Uint8Array): Key[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const keys: Key[] = [];
    while (this.#takeNext(keys)) { /* until the rest is incomplete */ }
    return keys;
  }

  /** Call this when nothing followed in time: the pending Escape was the key itself. */
  flush(): Key[] {
    if (!this.isWaiting) return [];
    const rest = this.#rest.slice(1);
    this.#rest = "";
    return rest === "" ? [{ kind: "escape" }] : [{ kind: "escape" }, { kind: "text", text: rest }];
  }

  /** True if it consumed something. */
  #takeNext(keys: Key[]): boolean {
    if (this.#rest === "") return false;
    if (this.#paste !== undefined) return this.#takePaste(keys);
    if (this.#rest.startsWith("\x1b")) return this.#takeSequence(keys);
    const text = TEXT.exec(this.#rest)?.[0];
    if (text !== undefined) keys.push({ kind: "text", text });
    const control = CONTROL_KEYS[this.#rest[0] ?? ""];
    if (control !== undefined) keys.push({ kind: control });
    this.#drop(text?.length ?? 1);
    return true;
  }

  #takeSequence(keys: Key[]): boolean {
    if (SEQUENCE_BEGUN.test(this.#rest)) return false;
    const sequence = SEQUENCE.exec(this.#rest)?.[0];
    const key = SEQUENCE_KEYS[sequence ?? ""];
    if (sequence === PASTE_START) this.#paste = "";
    else if (key !== undefined) keys.push({ kind: key });
    else if (sequence === undefined) keys.push({ kind: "escape" });
    this.#drop(sequence?.length ?? 1);
    return true;
  }

  /** A chunk may end inside the end mark: what could be its beginning stays in the buffer. */
  #takePaste(keys: Key[]): boolean {
    const end = this.#rest.indexOf(PASTE_END);
    const whole = end < 0 ? this.#rest.length - endMarkPrefixLength(this.#rest) : end;
    const room = PASTE_MAX_CHARS - (this.#paste ?? "").length;
    this.#paste += this.#rest.slice(0, Math.min(whole, room));
    this.#drop(end < 0 ? whole : end + PASTE_END.length);
    if (end < 0) return false;
    keys.push({ kind: "paste", text: (this.#paste ?? "").replace(/\r\n?/g, "\n") });
    this.#paste = undefined;
    return true;
  }

  #drop(length: number): void {
    this.#rest = this.#rest.slice(length);
  }
}

/** The length of the longest suffix of `text` that could be the beginning of the end mark. */
function endMarkPrefixLength(text: string): number {
  for (let length = Math.min(PASTE_END.length - 1, text.length); length > 0; length--) {
    if (PASTE_END.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
