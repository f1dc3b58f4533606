/** Keyboard shortcuts: which one a key is, what it does in the current view, and the list of all, over any view. */
import { type JSX, render } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { SESSION_TEXT } from "../session_text.ts";
import type { KeyPress } from "../terminal_input.ts";
import { Checkbox, SEARCH_EVENT } from "./shared.tsx";
import { followMovedFocus } from "./moved_focus.ts";

const { shortcuts: TEXT } = SESSION_TEXT;

/** The name of each shortcut, with one or more ways to press it. */
const LIST: readonly [keyof typeof TEXT.names, readonly (readonly string[])[]][] = [
  ["send", [[TEXT.control, TEXT.enter]]],
  ["write", [["i"]]],
  ["search", [["/"], [TEXT.control, "K"]]],
  ["switch", [["t"]]],
  ["back", [["Esc"]]],
  ["leaveLive", [[TEXT.shift, "Esc"]]],
  ["help", [["?"]]],
];

/** Starts listening to the keyboard, and keeps its focus on what moves. */
export function startShortcuts(): void {
  followMovedFocus(document.body);
  const place = document.createElement("div");
  document.body.append(place);
  const close = (): void => render(null, place);
  followShortcuts(() => render(<ShortcutHelp onClose={close} />, place));
}

function ShortcutHelp({ onClose }: { onClose(): void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [singleKeys, setSingleKeys] = useState(readSingleKeys);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const toggle = (): void => {
    writeSingleKeys(!singleKeys);
    setSingleKeys(!singleKeys);
  };
  return (
    <dialog class="sheet" ref={dialog} aria-labelledby="shortcuts-heading" onClose={onClose}>
      <h2 id="shortcuts-heading">{TEXT.heading}</h2>
      <dl class="shortcuts">
        {LIST.map(([name, ways]) => (
          <div key={name}>
            <dt>{TEXT.names[name]}</dt>
            <dd>{ways.map((keys) => <Keys key={keys.join()} keys={keys} />)}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">{TEXT.live}</p>
      <Checkbox label={TEXT.singleKeys} checked={singleKeys} onToggle={toggle} />
      <button type="button" class="quiet" onClick={() => dialog.current?.close()}>{TEXT.close}</button>
    </dialog>
  );
}

function Keys({ keys }: { keys: readonly string[] }): JSX.Element {
  return <span class="shortcut-keys">{keys.map((key) => <kbd key={key}>{key}</kbd>)}</span>;
}

export type Shortcut = "search" | "back" | "leave" | "write" | "switch" | "help";

/** Where the key was pressed. */
export interface KeyPlace {
  /** In a field. */
  isTyping: boolean;
  /** In the live terminal's field: every key goes to the terminal. */
  isLive: boolean;
  /** A dialog is open, which handles keys itself. */
  isDialog: boolean;
  /** The user wants shortcuts of a single character. */
  singleKeys: boolean;
}

const SINGLE: Readonly<Record<string, Shortcut>> = { "/": "search", "?": "help", i: "write", t: "switch" };

export function shortcutOf(press: KeyPress, place: KeyPlace): Shortcut | undefined {
  const { key, ctrlKey, metaKey, altKey, isComposing } = press;
  if (place.isLive || place.isDialog || isComposing || altKey) return undefined;
  if (ctrlKey !== metaKey) return key.toLowerCase() === "k" && !press.shiftKey ? "search" : undefined;
  if (ctrlKey) return undefined;
  if (key === "Escape") return press.shiftKey ? undefined : place.isTyping ? "leave" : "back";
  if (place.isTyping || !place.singleKeys) return undefined;
  return Object.hasOwn(SINGLE, key) ? SINGLE[key] : undefined;
}

const KEPT = "svc.singleKeys";
const OFF = "off";

/** The choice that this page made last: without storage it holds until the page is reloaded. */
let chosen = true;

export function readSingleKeys(storage: () => Pick<Storage, "getItem"> = () => localStorage): boolean {
  try {
    return storage().getItem(KEPT) !== OFF;
  } catch {
    return chosen;
  }
}

export function writeSingleKeys(
  on: boolean,
  storage: () => Pick<Storage, "setItem"> = () => localStorage,
): void {
  chosen = on;
  try {
    storage().setItem(KEPT, on ? "on" : OFF);
  } catch {
    // `chosen` has it.
  }
}

/** `help` shows the list. Ends when the signal fires. */
function followShortcuts(help: () => void, { signal }: { signal?: AbortSignal } = {}): void {
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    const shortcut = shortcutOf(event, placeOf(event.target));
    if (shortcut === undefined || !carryOut(shortcut, help)) return;
    event.preventDefault();
  };
  document.addEventListener("keydown", onKey, signal === undefined ? {} : { signal });
}

function placeOf(target: EventTarget | null): KeyPlace {
  const element = target instanceof Element ? target : document.body;
  return {
    // The focus of a field that has gone, as at a session's end, is on what was around it.
    isTyping: element.closest("input, textarea, select, [contenteditable]") !== null ||
      element.matches(".session-foot"),
    isLive: element.closest(".live-field") !== null,
    isDialog: document.querySelector("dialog[open]") !== null,
    singleKeys: readSingleKeys(),
  };
}

/** Returns false if the view has no use for the shortcut: the key is then left to the browser. */
function carryOut(shortcut: Shortcut, help: () => void): boolean {
  switch (shortcut) {
    case "search": {
      const field = shown<HTMLInputElement>('input[type="search"]');
      field?.focus();
      field?.select();
      return field !== undefined || !document.dispatchEvent(new Event(SEARCH_EVENT, { cancelable: true }));
    }
    case "back":
      return click("a.back");
    case "leave":
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      return true;
    case "write": {
      const field = shown<HTMLTextAreaElement>(".composer textarea");
      field?.focus();
      return field !== undefined;
    }
    case "switch":
      return click("a.panel-link");
    case "help":
      help();
      return true;
  }
}

function click(selector: string): boolean {
  const link = shown<HTMLAnchorElement>(selector);
  link?.click();
  return link !== undefined;
}

function shown<E extends HTMLElement>(selector: string): E | undefined {
  return [...document.querySelectorAll<E>(selector)].find((one) => one.checkVisibility());
}
