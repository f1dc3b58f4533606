/** Ctrl and Alt of the key row: held for the next key, or until they are let go. Keys go through them to the terminal. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { KeyInput } from "../../protocol/key_input.ts";
import { SESSION_TEXT } from "../session_text.ts";
import type { Terminal } from "./use_terminal.ts";

type Latch = "off" | "next" | "locked";
export type Modifier = "ctrl" | "alt";
export type Latches = Readonly<Record<Modifier, Latch>>;

export const NO_LATCHES: Latches = { ctrl: "off", alt: "off" };

/** A tap holds it for the next key, a second one until a third lets go. */
const NEXT: Readonly<Record<Latch, Latch>> = { off: "next", next: "locked", locked: "off" };

export function pressed(latches: Latches, modifier: Modifier): Latches {
  return { ...latches, [modifier]: NEXT[latches[modifier]] };
}

/** What is held after a key. */
export function afterKey({ ctrl, alt }: Latches): Latches {
  const kept = (latch: Latch): Latch => latch === "locked" ? "locked" : "off";
  return { ctrl: kept(ctrl), alt: kept(alt) };
}

export function isHeld({ ctrl, alt }: Latches): boolean {
  return ctrl !== "off" || alt !== "off";
}

/** One key with what is held; undefined if a terminal has no such key. */
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

const { latches: TEXT } = SESSION_TEXT;

export interface LatchedTerminal extends Terminal {
  latches: Latches;
  press(modifier: Modifier): void;
  /** The next key is typed with Ctrl or Alt. */
  isHeld(): boolean;
  /** Types without Ctrl and Alt, even if they are held. */
  paste(inputs: readonly KeyInput[]): boolean;
}

/** `session`: what is held is let go when it changes. */
export function useLatches(terminal: Terminal, session: string): LatchedTerminal {
  const [latches, show] = useState(NO_LATCHES);
  // Two keys may come before the next rendering.
  const held = useRef(latches);
  const set = (next: Latches): void => {
    held.current = next;
    show(next);
  };
  useEffect(() => set(NO_LATCHES), [session]);
  const type = (inputs: readonly KeyInput[]): boolean => {
    const now = held.current;
    if (!isHeld(now) || inputs.length === 0) return terminal.type(inputs);
    set(afterKey(now));
    const input = withLatches(inputs, now);
    if (input !== undefined) return terminal.type([input]);
    terminal.say(TEXT.noSuchKey);
    return false;
  };
  return {
    ...terminal,
    latches,
    type,
    paste: terminal.type,
    press: (modifier) => set(pressed(held.current, modifier)),
    isHeld: () => isHeld(held.current),
  };
}
