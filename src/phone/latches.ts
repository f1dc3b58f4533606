/** Ctrl and Alt of the key row: held for the next key, or until they are let go. */
import type { KeyInput } from "../protocol/key_input.ts";

export type Latch = "off" | "next" | "locked";
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
