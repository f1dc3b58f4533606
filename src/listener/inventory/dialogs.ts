/** The dialogs that agents show: since when each is open, and its text. */

export interface OpenDialog {
  /** Also the id of the push that brings its text to the phones. */
  id: string;
  /** Epoch milliseconds. */
  since: number;
  text: string;
}

/** An open dialog, for the phones. */
export interface DialogNews {
  /** Becomes the id of the push. */
  id: string;
  session: string;
  agent: string;
  label: string;
  cwd: string;
  text: string;
}

/** What shows the choice that is selected; moving it makes no other dialog. */
const SELECTION = /[❯›●>]/gu;

export class Dialogs {
  /** By pane. */
  readonly #open = new Map<string, OpenDialog>();

  of(pane: string): OpenDialog | undefined {
    return this.#open.get(pane);
  }

  /** Takes what a new screen shows; undefined without a dialog. True if another dialog has opened. */
  take(pane: string, { text, at }: { text: string | undefined; at: number }): boolean {
    if (text === undefined) {
      this.#open.delete(pane);
      return false;
    }
    const known = this.#open.get(pane);
    if (known !== undefined && isSameDialog(known.text, text)) return false;
    this.#open.set(pane, { id: crypto.randomUUID(), since: at, text });
    return true;
  }

  /** Forgets panes that are gone. */
  keep(panes: ReadonlySet<string>): void {
    for (const pane of this.#open.keys()) if (!panes.has(pane)) this.#open.delete(pane);
  }
}

export function isSameDialog(one: string, other: string): boolean {
  return essence(one) === essence(other);
}

function essence(text: string): string {
  return text.replace(SELECTION, " ").replace(/\s+/g, " ").trim();
}
