/** The attributes a terminal draws with, tracked from SGR sequences (ECMA-48, 8.3.117). */

type Slot =
  | "bold"
  | "dim"
  | "italic"
  | "underline"
  | "blink"
  | "inverse"
  | "hidden"
  | "strike"
  | "overline"
  | "foreground"
  | "background"
  | "line";

const SETS: Readonly<Record<string, Slot>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  5: "blink",
  6: "blink",
  7: "inverse",
  8: "hidden",
  9: "strike",
  21: "underline",
  38: "foreground",
  48: "background",
  53: "overline",
  58: "line",
};

const CLEARS: Readonly<Record<string, readonly Slot[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  25: ["blink"],
  27: ["inverse"],
  28: ["hidden"],
  29: ["strike"],
  39: ["foreground"],
  49: ["background"],
  55: ["overline"],
  59: ["line"],
};

/** Number of semicolon-separated fields that follow `38`, `48` or `58`, by colour kind. */
const COLOUR_FIELDS: Readonly<Record<string, number>> = { 5: 1, 2: 3 };

export class Pen {
  /** False until a reset was seen: what was set before is unknown. */
  known: boolean;
  #slots: Map<Slot, string>;

  constructor(start: { known: boolean; slots?: ReadonlyMap<Slot, string> }) {
    this.known = start.known;
    this.#slots = new Map(start.slots ?? []);
  }

  copy(): Pen {
    return new Pen({ known: this.known, slots: this.#slots });
  }

  /** `params` is the text between `CSI` and `m`. */
  apply(params: string): void {
    const fields = params.split(";");
    for (let at = 0; at < fields.length; at++) {
      const field = fields[at] ?? "";
      const isColour = field === "38" || field === "48" || field === "58";
      const more = isColour ? 1 + (COLOUR_FIELDS[fields[at + 1] ?? ""] ?? 0) : 0;
      this.#applyOne(fields.slice(at, at + 1 + more).join(";"));
      at += more;
    }
  }

  reset(): void {
    this.known = true;
    this.#slots.clear();
  }

  /** The sequence that sets exactly these attributes. */
  sgr(): string {
    return `\u001b[${["0", ...this.#slots.values()].join(";")}m`;
  }

  #applyOne(field: string): void {
    const code = /^0*(\d*)/.exec(field)?.[1] ?? "";
    if (code === "" || code === "0") return this.reset();
    if (field === "4:0") return void this.#slots.delete("underline");
    for (const slot of CLEARS[code] ?? []) this.#slots.delete(slot);
    const slot = SETS[code] ?? basicColour(Number(code));
    if (slot !== undefined) this.#slots.set(slot, field);
  }
}

function basicColour(code: number): Slot | undefined {
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return "foreground";
  return (code >= 40 && code <= 47) || (code >= 100 && code <= 107) ? "background" : undefined;
}
