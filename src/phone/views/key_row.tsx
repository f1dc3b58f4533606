/** Keys that a phone's keyboard has not, and what else can be done with the terminal. */
import type { JSX } from "preact";
import { STRINGS } from "../strings.ts";
import { isBlocked } from "../terminal_words.ts";
import type { Terminal } from "./use_terminal.ts";

const { terminal: WORDS, keys: KEYS } = STRINGS;
type Key = keyof typeof KEYS;

/** As tmux names them. */
const FIRST = ["Escape", "Tab", "BTab", "Up", "Down", "Left", "Right", "Enter", "C-c"] as const;
const MORE = [
  ...["C-d", "C-l", "C-r", "C-u", "C-o", "C-z", "BSpace", "DC"],
  ...["Home", "End", "PPage", "NPage", "M-Enter"],
] as const;
const ZOOM_PIXELS = 2;

interface Props {
  terminal: Terminal;
  /** The rarer ones are shown too. */
  isMore: boolean;
  onMore(isMore: boolean): void;
  /** The person wants to select from the screen's text. */
  onSelect(): void;
}

export function KeyRow({ terminal, isMore, onMore, onSelect }: Props): JSX.Element {
  return (
    <div class="key-row" role="group" aria-label={WORDS.keys}>
      <div class="keys first-keys">
        {FIRST.map((key) => <KeyButton key={key} name={key} terminal={terminal} />)}
        <ScreenButton words={WORDS.more} place="More" isExpanded={isMore} onPress={() => onMore(!isMore)} />
      </div>
      {isMore && (
        <div class="more">
          <Actions terminal={terminal} onSelect={onSelect} onDone={() => onMore(false)} />
          <div class="keys">
            {MORE.map((key) => <KeyButton key={key} name={key} terminal={terminal} />)}
            <ScreenButton words={WORDS.smaller} onPress={() => terminal.zoom(-ZOOM_PIXELS)} />
            <ScreenButton words={WORDS.larger} onPress={() => terminal.zoom(ZOOM_PIXELS)} />
          </div>
        </div>
      )}
    </div>
  );
}

function KeyButton({ name, terminal }: { name: Key; terminal: Terminal }): JSX.Element {
  return (
    <button
      type="button"
      data-key={name}
      aria-label={KEYS[name].name}
      disabled={isBlocked(terminal.told)}
      onPointerDown={keepFocus}
      onClick={() => terminal.type([{ type: "key", key: name }])}
    >
      {KEYS[name].sign}
    </button>
  );
}

interface ScreenButtonProps {
  words: { sign: string; name: string };
  place?: string;
  isExpanded?: boolean;
  onPress(): void;
}

/** Types nothing. */
function ScreenButton({ words, place, isExpanded, onPress }: ScreenButtonProps): JSX.Element {
  return (
    <button
      type="button"
      data-key={place}
      aria-label={words.name}
      aria-expanded={isExpanded}
      onPointerDown={keepFocus}
      onClick={onPress}
    >
      {words.sign}
    </button>
  );
}

interface ActionsProps {
  terminal: Terminal;
  onSelect(): void;
  onDone(): void;
}

function Actions({ terminal, onSelect, onDone }: ActionsProps): JSX.Element {
  const { stream, fit } = terminal.told;
  const isOff = stream.kind !== "live";
  const toggleFit = (): void => {
    onDone();
    terminal.fit(fit !== "on");
  };
  return (
    <div class="screen-actions">
      <button type="button" onClick={onSelect}>{WORDS.select}</button>
      <button type="button" disabled={isOff} onClick={terminal.above}>{WORDS.above}</button>
      <button type="button" disabled={isOff} aria-pressed={fit === "on"} onClick={toggleFit}>
        {WORDS.fit}
      </button>
    </div>
  );
}

/** The field keeps it, and so the phone's keyboard stays. */
function keepFocus(event: Event): void {
  event.preventDefault();
}
