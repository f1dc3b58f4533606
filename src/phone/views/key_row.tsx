/** Keys that a phone's keyboard lacks, Ctrl and Alt to hold for other keys, pasting, and actions on the terminal. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { KeyInput } from "../../protocol/key_input.ts";
import { checkBody } from "../check_input.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { inputsOfText } from "../terminal_input.ts";
import { isBlocked } from "../terminal_status.ts";
import { keepFocus } from "./kept_focus.ts";
import type { Terminal } from "./use_terminal.ts";

const { terminal: TEXT, keys: KEYS, latches: LATCHES, paste: PASTE } = SESSION_TEXT;
type Key = keyof typeof KEYS;

/** Keys by their tmux names. */
const FIRST = ["Escape", "Tab", "BTab", "Up", "Down", "Left", "Right", "Enter", "C-c"] as const;
const MORE = [
  ...["C-d", "C-l", "C-r", "C-u", "C-o", "C-z", "BSpace", "DC"],
  ...["Home", "End", "PPage", "NPage", "M-Enter"],
] as const;
const MODIFIERS: readonly Modifier[] = ["ctrl", "alt"];
const ZOOM_PIXELS = 2;

interface Props {
  terminal: LatchedTerminal;
  /** Also shows the rarer keys. */
  isMore: boolean;
  onMore(isMore: boolean): void;
  /** Called when Ctrl or Alt was tapped. */
  onLatch(): void;
  /** The user wants to select text. */
  onSelect(): void;
  onFind(): void;
}

export function KeyRow({ terminal, isMore, onMore, onLatch, onSelect, onFind }: Props): JSX.Element {
  return (
    <div class="key-row" role="group" aria-label={TEXT.keys}>
      <div class="keys first-keys">
        {FIRST.map((key) => <KeyButton key={key} name={key} terminal={terminal} />)}
        {MODIFIERS.map((name) => <LatchButton key={name} {...{ name, terminal, onLatch }} />)}
        <ScreenButton label={TEXT.more} id="More" isExpanded={isMore} onPress={() => onMore(!isMore)} />
      </div>
      {isMore && (
        <div class="more">
          <Actions terminal={terminal} onSelect={onSelect} onFind={onFind} onDone={() => onMore(false)} />
          <div class="keys">
            {MORE.map((key) => <KeyButton key={key} name={key} terminal={terminal} />)}
            <ScreenButton label={TEXT.smaller} onPress={() => terminal.zoom(-ZOOM_PIXELS)} />
            <ScreenButton label={TEXT.larger} onPress={() => terminal.zoom(ZOOM_PIXELS)} />
          </div>
        </div>
      )}
    </div>
  );
}

function KeyButton({ name, terminal }: { name: Key; terminal: LatchedTerminal }): JSX.Element {
  return (
    <button
      type="button"
      data-key={name}
      aria-label={KEYS[name].name}
      disabled={isBlocked(terminal.info)}
      onPointerDown={keepFocus}
      onClick={() => {
        buzz();
        terminal.settle.current();
        terminal.type([{ type: "key", key: name }]);
      }}
    >
      {KEYS[name].sign}
    </button>
  );
}

interface LatchButtonProps {
  name: Modifier;
  terminal: LatchedTerminal;
  onLatch(): void;
}

/** A tap holds the modifier for the next key, a second tap until a third. */
function LatchButton({ name, terminal, onLatch }: LatchButtonProps): JSX.Element {
  const latch = terminal.latches[name];
  return (
    <button
      type="button"
      data-key={name}
      data-latch={latch}
      aria-label={LATCHES[name][latch]}
      aria-pressed={latch !== "off"}
      disabled={isBlocked(terminal.info)}
      onPointerDown={keepFocus}
      onClick={() => {
        buzz();
        terminal.settle.current();
        terminal.press(name);
        onLatch();
      }}
    >
      {LATCHES[name].sign}
    </button>
  );
}

interface ScreenButtonProps {
  label: { sign: string; name: string };
  id?: string;
  isExpanded?: boolean;
  onPress(): void;
}

/** A button that sends no key. */
function ScreenButton({ label, id, isExpanded, onPress }: ScreenButtonProps): JSX.Element {
  return (
    <button
      type="button"
      data-key={id}
      aria-label={label.name}
      aria-expanded={isExpanded}
      onPointerDown={keepFocus}
      onClick={onPress}
    >
      {label.sign}
    </button>
  );
}

interface ActionsProps {
  terminal: LatchedTerminal;
  onSelect(): void;
  onFind(): void;
  onDone(): void;
}

function Actions({ terminal, onSelect, onFind, onDone }: ActionsProps): JSX.Element {
  const { stream, fit } = terminal.info;
  const isOff = stream.kind !== "live";
  const toggleFit = (): void => {
    onDone();
    terminal.fit(fit !== "on");
  };
  const paste = async (): Promise<void> => {
    onDone();
    terminal.settle.current();
    const pasted = await readPaste();
    if (pasted.kind === "inputs") terminal.paste(pasted.inputs);
    else terminal.say(PASTE.faults[pasted.kind]);
  };
  const find = (): void => {
    onDone();
    onFind();
  };
  return (
    <div class="screen-actions">
      <button type="button" onClick={onSelect}>{TEXT.select}</button>
      <button type="button" onClick={find}>{TEXT.find}</button>
      <button type="button" disabled={isBlocked(terminal.info)} onClick={() => void paste()}>
        {PASTE.paste}
      </button>
      <button
        type="button"
        aria-pressed={terminal.asText}
        onClick={() => terminal.showAsText(!terminal.asText)}
      >
        {TEXT.asText}
      </button>
      <button type="button" disabled={isOff} onClick={terminal.showEarlier}>{TEXT.above}</button>
      <button type="button" disabled={isOff} aria-pressed={fit === "on"} onClick={toggleFit}>
        {TEXT.fit}
      </button>
    </div>
  );
}

const TICK_MS = 8;

/** Vibrates briefly, if the browser can and the user has not reduced motion. */
function buzz(): void {
  const vibrate: Navigator["vibrate"] | undefined = navigator.vibrate?.bind(navigator);
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) vibrate?.(TICK_MS);
}

type Pasted =
  | { kind: "inputs"; inputs: readonly KeyInput[] }
  /** `unreadable`: the browser or the user does not let the page read it. */
  | { kind: "empty" | "too_long" | "unreadable" };

type Clipboard = { readText(): Promise<string> };

/** Reads the clipboard as terminal input. Call this on a tap: browsers then ask the user for permission. */
export async function readPaste(
  clipboard: Clipboard | undefined = navigator.clipboard,
): Promise<Pasted> {
  let text: string;
  try {
    if (clipboard?.readText === undefined) return { kind: "unreadable" };
    text = await clipboard.readText();
  } catch {
    return { kind: "unreadable" };
  }
  // A blank alone would press Enter.
  if (text.trim() === "") return { kind: "empty" };
  if (checkBody(text).fault === "too_long") return { kind: "too_long" };
  const inputs = inputsOfText(text);
  return inputs.length === 0 ? { kind: "empty" } : { kind: "inputs", inputs };
}

/** How Ctrl or Alt is held: not at all, for the next key, or until it is released. */
type Latch = "off" | "next" | "locked";
type Modifier = "ctrl" | "alt";
export type Latches = Readonly<Record<Modifier, Latch>>;

export const NO_LATCHES: Latches = { ctrl: "off", alt: "off" };

/** What a tap changes: the first holds for the next key, the second until a third releases it. */
const NEXT: Readonly<Record<Latch, Latch>> = { off: "next", next: "locked", locked: "off" };

export function pressed(latches: Latches, modifier: Modifier): Latches {
  return { ...latches, [modifier]: NEXT[latches[modifier]] };
}

/** The latches after a key was typed. */
export function afterKey({ ctrl, alt }: Latches): Latches {
  const kept = (latch: Latch): Latch => latch === "locked" ? "locked" : "off";
  return { ctrl: kept(ctrl), alt: kept(alt) };
}

export function isHeld({ ctrl, alt }: Latches): boolean {
  return ctrl !== "off" || alt !== "off";
}

/** The input as one key with the held modifiers; undefined if a terminal has no such key. */
export function withLatches(inputs: readonly KeyInput[], { ctrl, alt }: Latches): KeyInput | undefined {
  const [input, more] = inputs;
  if (input === undefined || more !== undefined || (ctrl !== "off" && alt !== "off")) return undefined;
  const letter = input.type === "text" && /^[a-z]$/i.test(input.text) ? input.text.toLowerCase() : undefined;
  if (ctrl !== "off") {
    if (letter !== undefined) return { type: "key", key: `C-${letter}` };
    return input.type === "key" && input.key.startsWith("C-") ? input : undefined;
  }
  if (letter !== undefined) return { type: "key", key: `M-${letter}` };
  const takesAlt = input.type === "key" && (input.key === "Enter" || input.key === "BSpace");
  return takesAlt ? { type: "key", key: `M-${input.key}` } : undefined;
}

export interface LatchedTerminal extends Terminal {
  latches: Latches;
  press(modifier: Modifier): void;
  /** True if the next key is typed with Ctrl or Alt. */
  isHeld(): boolean;
  /** Types without Ctrl and Alt, even if they are held. */
  paste(inputs: readonly KeyInput[]): boolean;
  /** Types what the live field's input method has not finished: a key that follows must not overtake it. */
  settle: { current(): void };
}

/** Adds Ctrl and Alt to a terminal. They are released when `session` changes. */
export function useLatches(terminal: Terminal, session: string): LatchedTerminal {
  const [latches, show] = useState(NO_LATCHES);
  // Two keys may arrive before the next rendering.
  const held = useRef(latches);
  const settle = useRef(() => {});
  const set = (next: Latches): void => {
    held.current = next;
    show(next);
  };
  useLayoutEffect(() => set(NO_LATCHES), [session]);
  const type = (inputs: readonly KeyInput[]): boolean => {
    const now = held.current;
    if (!isHeld(now) || inputs.length === 0) return terminal.type(inputs);
    set(afterKey(now));
    const input = withLatches(inputs, now);
    if (input !== undefined) return terminal.type([input]);
    terminal.say(LATCHES.noSuchKey);
    // It is done with: it must not be typed later.
    return true;
  };
  return {
    ...terminal,
    latches,
    type,
    paste: terminal.type,
    settle,
    press: (modifier) => set(pressed(held.current, modifier)),
    isHeld: () => isHeld(held.current),
  };
}
