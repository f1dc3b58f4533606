/** Filters a pane's raw output for another terminal: only whole sequences and characters, without those that tmux itself handles. */
import { boundCount, type Doubt, Drawing } from "./mirror_drawing.ts";
import { encodeUtf8 } from "../async/encodings.ts";

/** More of a control sequence is not kept: tmux ignores one that is so long. */
const SEQUENCE_MAX_BYTES = 128;

const [BEL, CAN, SUB, ESC, DCS, BACKSLASH, ZWJ] = [0x07, 0x18, 0x1a, 0x1b, 0x50, 0x5c, 0x200d];
const decoder = new TextDecoder();
const NOTHING: readonly number[] = [];

/** A DCS string has parameters, then data, in which `ESC` need not begin another sequence. */
type State = "ground" | "escape" | "csi" | "string" | "dcs" | "data" | "data escape" | "character";

/**
 * Drops what another terminal would treat differently: what tmux ignores; the strings for title, clipboard and palette,
 * which tmux itself handles (OSC, DCS, APC, PM, SOS and `ESC k`); C1 controls written as UTF-8, which tmux treats as
 * text without width; and characters after a joiner, where tmux gives the sequence the first character's width.
 * Incomplete sequences are kept for the next call, so that anything may be written between two outputs.
 */
export class OutputFilter {
  /** The user disabled the alternate screen: tmux ignores sequences that switch to it. */
  keepsScreen = false;
  /** The longer side of the screen, in cells: tmux caps larger counts there, other terminals do not. */
  countMax = 1_000;
  readonly #drawing = new Drawing();
  #isFresh = true;
  #state: State = "ground";
  #sequence: number[] = [];
  /** Length in bytes of the character being read. */
  #wanted = 0;
  #joins = false;

  /** Whether output since the last call may look different in another terminal. */
  takeDoubt(): Doubt {
    return this.#drawing.takeDoubt();
  }

  /** Output was missed, so all tracked state is invalid. */
  forget(): void {
    this.#drawing.forget();
    this.#state = "ground";
    this.#sequence = [];
    this.#joins = false;
    this.#isFresh = true;
  }

  /** Resumes after a gap, with the unfinished sequence that tmux has already read, and whether an unusual text mode is set. */
  resume(pending: Uint8Array, { isOdd }: { isOdd: boolean }): void {
    // tmux gives up a string that is not ended within five seconds.
    if (this.#isInData && !(pending[0] === ESC && pending[1] === DCS)) this.forget();
    if (!this.#isFresh) return;
    this.pass(pending);
    if (isOdd) this.#drawing.startOddly();
  }

  /** Takes whether tmux's screen, after all output so far, has line drawing on it. */
  sawScreen(screen: { drawsLines: boolean }): void {
    this.#drawing.sawScreen(screen);
  }

  /** Sequences that give a terminal with default attributes the program's current ones. Empty if unknown. */
  penSequences(): string {
    return this.#drawing.sequences();
  }

  /** The bytes of `output` to forward. */
  pass(output: Uint8Array): Uint8Array {
    this.#begun(output[0]);
    const kept = new Uint8Array(output.length + this.#sequence.length);
    let length = 0;
    for (let at = 0; at < output.length; at++) {
      const byte = output[at] ?? 0;
      const code = this.#state === "ground" && !this.#joins ? plainCharacter(output, at) : 0;
      if (this.#state === "ground" && byte >= 0x20 && byte < 0x7f) {
        kept[length++] = byte;
        this.#drawing.character(byte);
      } else if (code > 0) {
        kept.set(output.subarray(at, at + 3), length);
        length += 3;
        at += 2;
        this.#drawing.character(code);
      } else for (const passed of this.#step(byte)) kept[length++] = passed;
    }
    this.#drawing.paused();
    if (this.#isInData) this.#drawing.isUnsure = true;
    return kept.subarray(0, length);
  }

  get #isInData(): boolean {
    return this.#state === "data" || this.#state === "data escape";
  }

  /** Detects the rest of a character whose beginning was missed. */
  #begun(first: number | undefined): void {
    if (!this.#isFresh || first === undefined) return;
    this.#isFresh = false;
    if (first >= 0x80 && first < 0xc0) this.#drawing.isUnsure = true;
  }

  #step(byte: number): Iterable<number> {
    if (this.#isInData) return this.#data(byte);
    if (byte === ESC) return this.#begin("escape", byte);
    if (byte === CAN || byte === SUB) return this.#begin("ground");
    switch (this.#state) {
      case "ground":
        return this.#ground(byte);
      case "character":
        return byte < 0x80 ? this.#interrupted(byte) : this.#character(byte);
      case "escape":
        return byte < 0x20 ? this.#control(byte) : this.#escape(byte);
      case "csi":
        return byte < 0x20 ? this.#control(byte) : this.#csi(byte);
      case "dcs":
        return this.#dcs(byte);
      case "string":
        return byte === BEL && this.#sequence[0] === 0x5d ? this.#begin("ground") : NOTHING;
    }
    return NOTHING;
  }

  #begin(state: State, ...sequence: number[]): readonly number[] {
    this.#state = state;
    this.#sequence = sequence;
    return NOTHING;
  }

  #control(byte: number): readonly number[] {
    this.#drawing.control(byte);
    return [byte];
  }

  #ground(byte: number): readonly number[] {
    if (byte < 0x80) return this.#control(byte);
    this.#wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return byte < 0xc2 || byte > 0xf4 ? NOTHING : this.#begin("character", byte);
  }

  /** Drops a character that was cut short. */
  #interrupted(byte: number): readonly number[] {
    this.#begin("ground");
    if (byte < 0x20 || byte === 0x7f) return this.#control(byte);
    this.#drawing.character(byte);
    return [byte];
  }

  #character(byte: number): readonly number[] {
    this.#sequence.push(byte);
    if (this.#sequence.length < this.#wanted) return NOTHING;
    const whole = this.#sequence;
    this.#begin("ground");
    const code = decoder.decode(new Uint8Array(whole)).codePointAt(0) ?? 0;
    const isValid = whole.slice(1).every((one) => (one & 0xc0) === 0x80);
    if (!isValid || code < 0xa0) return NOTHING;
    this.#drawing.character(code);
    const isJoined = this.#joins;
    this.#joins = code === ZWJ;
    return isJoined || this.#joins ? NOTHING : whole;
  }

  #escape(byte: number): readonly number[] {
    if (isIgnored(byte)) return NOTHING;
    this.#sequence.push(byte);
    if (byte >= 0x20 && byte < 0x30) return this.#cap();
    const isFirst = this.#sequence.length === 2;
    if (isFirst && byte === 0x5b) {
      this.#state = "csi";
      return NOTHING;
    }
    if (isFirst && byte === DCS) return this.#begin("dcs", byte);
    if (isFirst && "]X^_k".includes(String.fromCharCode(byte))) return this.#begin("string", byte);
    const whole = this.#sequence;
    this.#begin("ground");
    const text = String.fromCharCode(...whole.slice(1));
    if (!KNOWN_ESCAPES.test(text)) return NOTHING;
    this.#drawing.escape(text);
    return whole;
  }

  #csi(byte: number): Iterable<number> {
    if (isIgnored(byte)) return NOTHING;
    this.#sequence.push(byte);
    if (byte < 0x40) return this.#cap();
    const known = knownCsi(String.fromCharCode(...this.#sequence.slice(2)));
    this.#begin("ground");
    if (known === undefined) return NOTHING;
    const text = boundCount(known, this.countMax);
    if (this.keepsScreen && /^\?(.*;)?(47|1047|1049)(;.*)?[hl]$/.test(text)) return NOTHING;
    this.#drawing.csi(text);
    return encodeUtf8(`\u001b[${text}`);
  }

  #cap(): readonly number[] {
    if (this.#sequence.length > SEQUENCE_MAX_BYTES) this.#sequence.pop();
    return NOTHING;
  }

  /** What precedes the data: a prefix, parameters, intermediates and a final. tmux ends an invalid string at any `ESC`. */
  #dcs(byte: number): readonly number[] {
    if (byte < 0x20 || isIgnored(byte)) return NOTHING;
    if (byte >= 0x40) return this.#begin("data");
    const last = this.#sequence[0] ?? 0;
    const isMisplaced = byte === 0x3a || (byte >= 0x30 && last < 0x30) || (byte > 0x3b && last !== DCS);
    return isMisplaced ? this.#begin("string", DCS) : this.#begin("dcs", byte);
  }

  /** Only `ESC \` ends the data; tmux takes the first two bytes of `ESC ESC \` together. */
  #data(byte: number): readonly number[] {
    const isEscaped = this.#state === "data escape";
    if (isEscaped && byte === BACKSLASH) return this.#begin("ground");
    return this.#begin(!isEscaped && byte === ESC ? "data escape" : "data");
  }
}

/** All that tmux supports, and the end of a string. */
const KNOWN_ESCAPES = /^([78=>DEHMc\\]|[()][0B]|#8)$/;
const CSI = /^([<-?]?)((?!:)[\d:;]*)([ -\/]*)([@-~])$/;
const KNOWN_FINALS = "@ABCDEFGHJKLMPSTXZ`bcdfghlmnrstu";
/** tmux ignores a sequence with more bytes of parameters, with more parameters, or with a larger number. */
const PARAMETERS_MAX_BYTES = 63;
const PARAMETERS_MAX = 23;
const PARAMETER_MAX = 2_147_483_647;

/** `text` is what follows `CSI`, with its final. Returns the part on which tmux acts; undefined if it ignores all of it. */
export function knownCsi(text: string): string | undefined {
  const [, prefix = "", parameters = "", intermediates = "", final = ""] = CSI.exec(text) ?? [];
  const fields = parameters.split(";");
  if (parameters.length > PARAMETERS_MAX_BYTES || fields.length > PARAMETERS_MAX) return undefined;
  if (fields.some((field) => Number(field) > PARAMETER_MAX)) return undefined;
  if (intermediates !== "") return prefix + intermediates + final === " q" ? text : undefined;
  if (final === "h" || final === "l") return knownModes(prefix, fields, final);
  if (prefix !== "") return final === "J" || final === "K" ? undefined : text;
  if (final === "" || !KNOWN_FINALS.includes(final)) return undefined;
  const used = final === "m" ? 0 : "Hfr".includes(final) ? 2 : 1;
  return fields.slice(0, used).some((field) => field.includes(":")) ? undefined : text;
}

/** Other terminals support more modes without a prefix than tmux: new-line mode would shift every line. */
function knownModes(prefix: string, fields: readonly string[], final: string): string | undefined {
  if (prefix === "") return fields.some((field) => /^0*4$/.test(field)) ? `4${final}` : undefined;
  const modes = fields.filter((field) => /^\d+$/.test(field));
  return modes.length === 0 ? undefined : `${prefix}${modes.join(";")}${final}`;
}

/**
 * The code of a whole character of three bytes, such as those that frames are drawn with; 0 for one that needs a closer
 * look.
 */
function plainCharacter(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0, third = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
  if (first < 0xe1 || first > 0xec || (second & 0xc0) !== 0x80 || (third & 0xc0) !== 0x80) return 0;
  const code = (first & 0x0f) << 12 | (second & 0x3f) << 6 | third & 0x3f;
  return code === ZWJ ? 0 : code;
}

/** Ignored by tmux within a sequence. Other terminals may end the sequence there. */
function isIgnored(byte: number): boolean {
  return byte >= 0x7f;
}
