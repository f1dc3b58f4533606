/** Turns a pane's raw output into what another terminal shows alike: whole sequences and characters, nothing that terminals read differently. */
import { Pen } from "./mirror_pen.ts";

/** A longer control sequence is dropped, as terminals do. */
const SEQUENCE_MAX_BYTES = 1_024;

const [BEL, SO, SI, CAN, SUB, ESC] = [0x07, 0x0e, 0x0f, 0x18, 0x1a, 0x1b];
const decoder = new TextDecoder();

const NOTHING: readonly number[] = [];

type State = "ground" | "escape" | "csi" | "string" | "character";

interface Drawing {
  pen: Pen;
  charsets: ReadonlyMap<string, string>;
  shift: string;
}

/**
 * tmux itself acts on titles, clipboard and palette strings (OSC, DCS, APC, PM, SOS and `ESC k`): they are dropped. So are
 * C1 controls written as UTF-8, which tmux takes for text without width. What is not complete is kept for the next
 * call, so that anything may be written between two outputs.
 */
export class OutputFilter {
  /** Something was drawn that depends on what this filter did not see: it may be wrong. Its reader sets it back. */
  isUnsure = false;
  /** The user switched the alternate screen off: tmux ignores what would switch to it. */
  keepsScreen = false;
  #isFresh = true;
  #pen = new Pen({ known: false });
  /** Saved with the cursor, and with the normal screen while the alternate one is shown. */
  #saved: Drawing | undefined;
  #ofScreen: Drawing | undefined;
  /** Designations of G0 and G1, and the last shift, once they were seen. */
  #charsets = new Map<string, string>();
  #shift = "";
  #state: State = "ground";
  #sequence: number[] = [];
  /** Bytes of the character that is being read. */
  #wanted = 0;
  /** Output was missed: nothing that was known holds any more. */
  forget(): void {
    this.#draw(undefined);
    this.#saved = undefined;
    this.#ofScreen = undefined;
    this.#state = "ground";
    this.#sequence = [];
    this.isUnsure = false;
    this.#isFresh = true;
  }

  /** Sequences that bring a terminal with default attributes to what the program has set; empty when unknown. */
  penSequences(): string {
    const charsets = [...this.#charsets].map(([set, charset]) => `\u001b${set}${charset}`).join("");
    return (this.#pen.known ? this.#pen.sgr() : "") + charsets + this.#shift;
  }

  /** After a gap: the beginning of a sequence that tmux has taken in and the program has not ended. */
  resume(pending: Uint8Array): void {
    if (this.#isFresh) this.pass(pending);
  }

  /** The bytes to show for `output`. */
  pass(output: Uint8Array): Uint8Array {
    const first = output[0];
    if (this.#isFresh && first !== undefined) {
      this.#isFresh = false;
      this.isUnsure ||= first >= 0x80 && first < 0xc0;
    }
    const kept = new Uint8Array(output.length + this.#sequence.length);
    let length = 0;
    for (const byte of output) {
      if (this.#state === "ground" && byte >= 0x20 && byte < 0x7f) {
        kept[length++] = byte;
        this.isUnsure ||= !this.#pen.known;
      } else for (const passed of this.#step(byte)) kept[length++] = passed;
    }
    return kept.subarray(0, length);
  }

  #step(byte: number): readonly number[] {
    if (byte === ESC) return this.#begin("escape", byte);
    if (byte === CAN || byte === SUB) return this.#begin("ground");
    switch (this.#state) {
      case "ground":
        return this.#ground(byte);
      case "character":
        return byte < 0x80 ? this.#interrupted(byte) : this.#character(byte);
      case "escape":
        return byte < 0x20 ? [byte] : this.#escape(byte);
      case "csi":
        return byte < 0x20 ? [byte] : this.#csi(byte);
      case "string":
        return byte === BEL && this.#sequence[0] === 0x5d ? this.#begin("ground") : NOTHING;
    }
  }

  #begin(state: State, ...sequence: number[]): readonly number[] {
    this.#state = state;
    this.#sequence = sequence;
    return NOTHING;
  }

  #ground(byte: number): readonly number[] {
    if (byte === SO || byte === SI) this.#shift = String.fromCharCode(byte);
    if (byte < 0x80) return [byte];
    this.#wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return byte < 0xc2 || byte > 0xf4 ? NOTHING : this.#begin("character", byte);
  }

  /** A character that ends too early is none. */
  #interrupted(byte: number): readonly number[] {
    this.#begin("ground");
    return this.#ground(byte);
  }

  #character(byte: number): readonly number[] {
    this.#sequence.push(byte);
    if (this.#sequence.length < this.#wanted) return NOTHING;
    const whole = this.#sequence;
    this.#begin("ground");
    const isControl = whole[0] === 0xc2 && byte < 0xa0;
    const isValid = whole.slice(1).every((one) => (one & 0xc0) === 0x80);
    if (isControl || !isValid) return NOTHING;
    this.isUnsure ||= !this.#pen.known;
    return whole;
  }

  #escape(byte: number): readonly number[] {
    this.#sequence.push(byte);
    if (byte >= 0x20 && byte < 0x30) return this.#sequence.length > 4 ? this.#begin("ground") : NOTHING;
    const isFirst = this.#sequence.length === 2;
    if (isFirst && byte === 0x5b) {
      this.#state = "csi";
      return NOTHING;
    }
    if (isFirst && "]PX^_k".includes(String.fromCharCode(byte))) return this.#begin("string", byte);
    const whole = this.#sequence;
    this.#begin("ground");
    this.#learnEscape(String.fromCharCode(...whole.slice(1)));
    return whole;
  }

  #csi(byte: number): readonly number[] {
    this.#sequence.push(byte);
    if (byte < 0x40) return this.#sequence.length > SEQUENCE_MAX_BYTES ? this.#begin("ground") : NOTHING;
    const whole = this.#sequence;
    this.#begin("ground");
    const text = decoder.decode(new Uint8Array(whole.slice(2)));
    if (this.keepsScreen && /^\?(.*;)?(47|1047|1049)(;.*)?[hl]$/.test(text)) return NOTHING;
    this.#learnCsi(text);
    return whole;
  }

  #learnCsi(text: string): void {
    if (/^[\d:;]*m$/.test(text)) this.#pen.apply(text.slice(0, -1));
    else if (text === "s" || text === "?1048h") this.#saved = this.#drawing();
    else if (text === "u" || text === "?1048l") this.#restore();
    else if (text === "?1049h") this.#ofScreen = this.#drawing();
    else if (text === "?1049l") this.#draw(this.#ofScreen);
  }

  #learnEscape(text: string): void {
    if (text === "7") this.#saved = this.#drawing();
    else if (text === "8") this.#restore();
    else if (text === "c") {
      this.forget();
      this.#pen.reset();
    } else if (text.length === 2 && "()".includes(text.charAt(0))) {
      this.#charsets.set(text.charAt(0), text.charAt(1));
    }
  }

  #restore(): void {
    this.isUnsure ||= this.#saved === undefined;
    this.#draw(this.#saved);
  }

  #drawing(): Drawing {
    return { pen: this.#pen.copy(), charsets: new Map(this.#charsets), shift: this.#shift };
  }

  #draw(drawing: Drawing | undefined): void {
    this.#pen = drawing?.pen.copy() ?? new Pen({ known: false });
    this.#charsets = new Map(drawing?.charsets ?? []);
    this.#shift = drawing?.shift ?? "";
  }
}
