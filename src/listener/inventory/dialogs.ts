/** The dialogs that agents show on their screens, each under one id for as long as it is open. */

export interface OpenDialog {
  /** Also the id of the push that brings its text to the phones. */
  id: string;
  /** Epoch milliseconds. */
  since: number;
  text: string;
}

/** Marks of the selected choice; moving them does not make another dialog. */
const SELECTION = /[❯›●>]/gu;

/** A dialog whose text differs in each of this many captures is accepted as it is. */
export const DIALOG_LOOKS_MAX = 3;

/** The dialogs that agents show: since when each is open, and its text. */
export class Dialogs {
  /** By pane. */
  readonly #open = new Map<string, OpenDialog>();
  /** By pane: what the last captures showed of a dialog that may be half drawn. */
  readonly #drawn = new Map<string, readonly string[]>();
  readonly #doubtful = new Set<string>();

  of(pane: string): OpenDialog | undefined {
    return this.#open.get(pane);
  }

  /** The last screen did not show the pane's dialog, or showed another one, but may have been half drawn: the next one decides. */
  isDoubtful(pane: string): boolean {
    return this.#doubtful.has(pane) || this.#drawn.has(pane);
  }

  /** True while a dialog waits for the next capture to confirm it. */
  get isAnyOpening(): boolean {
    return this.#drawn.size > 0;
  }

  /** Takes a new screen, with no `text` if it shows no dialog. True if another dialog has opened. */
  take(
    pane: string,
    { text, at, mayBeHalfDrawn = false }: { text: string | undefined; at: number; mayBeHalfDrawn?: boolean },
  ): boolean {
    const wasDoubtful = this.#doubtful.delete(pane);
    const [known, drawn] = [this.#open.get(pane), this.#drawn.get(pane)];
    if (text === undefined) {
      if ((known !== undefined || drawn !== undefined) && mayBeHalfDrawn && !wasDoubtful) {
        this.#doubtful.add(pane);
      } else this.#forget(pane);
      return false;
    }
    this.#drawn.delete(pane);
    if (known !== undefined && isSameDialog(known.text, text)) return false;
    const looks = [...drawn ?? [], text];
    const whole = wholeOf(looks);
    if (whole === undefined) {
      this.#drawn.set(pane, looks);
      return false;
    }
    this.#open.set(pane, { id: crypto.randomUUID(), since: at, text: whole });
    return true;
  }

  #forget(pane: string): void {
    for (const map of [this.#open, this.#drawn]) map.delete(pane);
    this.#doubtful.delete(pane);
  }

  /** Forgets panes that are gone. */
  keep(panes: ReadonlySet<string>): void {
    for (const pane of [...this.#open.keys(), ...this.#drawn.keys()]) {
      if (!panes.has(pane)) this.#forget(pane);
    }
  }
}

/**
 * Returns the text on which the last two captures agree. If all differ because the agent keeps redrawing its dialog,
 * returns the last one, or an earlier one that contains it. Undefined while another capture is needed.
 */
function wholeOf(looks: readonly string[]): string | undefined {
  const [before, last = ""] = [looks.at(-2), looks.at(-1)];
  if (before !== undefined && isSameDialog(before, last)) return last;
  if (looks.length < DIALOG_LOOKS_MAX) return undefined;
  const having = looks.filter((one) => essence(one).includes(essence(last)));
  return having.toSorted((one, other) => other.length - one.length)[0];
}

export function isSameDialog(one: string, other: string): boolean {
  return essence(one) === essence(other);
}

function essence(text: string): string {
  return text.replace(SELECTION, " ").replace(/\s+/g, " ").trim();
}
