/** The terminal of the key row and the live field: keys go through the latches. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { KeyInput } from "../../protocol/key_input.ts";
import {
  afterKey,
  isHeld,
  type Latches,
  type Modifier,
  NO_LATCHES,
  pressed,
  withLatches,
} from "../latches.ts";
import { STRINGS } from "../strings.ts";
import type { Terminal } from "./use_terminal.ts";

const { latches: TEXT } = STRINGS;

export interface LatchedTerminal extends Terminal {
  latches: Latches;
  press(modifier: Modifier): void;
  /** The next key is typed with Ctrl or Alt. */
  isHeld(): boolean;
  /** Types as it is, whatever is held. */
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
