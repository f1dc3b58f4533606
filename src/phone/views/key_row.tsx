/** Keys that a phone's keyboard has not, and what else can be done with the terminal. */
import type { JSX } from "preact";
import { STRINGS } from "../strings.ts";
import type { Terminal } from "./use_terminal.ts";

const { terminal: WORDS, keys: KEYS } = STRINGS;

/** As tmux names them. */
const FIRST = ["Escape", "Tab", "BTab", "Up", "Down", "Left", "Right", "Enter", "C-c"] as const;
const MORE = [
  ...["C-d", "C-l", "C-r", "C-u", "C-o", "C-z", "BSpace", "DC"],
  ...["Home", "End", "PPage", "NPage", "M-Enter"],
] as const;

interface Props {
  terminal: Terminal;
  /** The rarer ones are shown too. */
  isMore: boolean;
  /** The person wants to select from the screen's text. */
  onSelect(): void;
}

export function KeyRow({ terminal, isMore, onSelect }: Props): JSX.Element {
  const { stream, keys, fit } = terminal.told;
  // What is held at a dialog must not grow: it is typed when the dialog is gone.
  const isBlocked = stream.kind !== "live" || keys?.state === "held";
  const button = (key: (typeof FIRST)[number] | (typeof MORE)[number]): JSX.Element => (
    <button
      key={key}
      type="button"
      aria-label={KEYS[key].name}
      disabled={isBlocked}
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => terminal.type([{ type: "key", key }])}
    >
      {KEYS[key].sign}
    </button>
  );
  return (
    <div class="key-row" role="group" aria-label={WORDS.keys}>
      <div class="keys">{FIRST.map(button)}</div>
      {isMore && (
        <div class="keys more-keys">
          {MORE.map(button)}
          <button type="button" onClick={onSelect}>{WORDS.select}</button>
          <button type="button" disabled={stream.kind !== "live"} onClick={terminal.above}>
            {WORDS.above}
          </button>
          <button
            type="button"
            aria-pressed={fit === "on"}
            disabled={stream.kind !== "live"}
            onClick={() => terminal.fit(fit !== "on")}
          >
            {WORDS.fit}
          </button>
        </div>
      )}
    </div>
  );
}
