/** The page's few icons, drawn in the colour of the text beside them. */
import type { JSX } from "preact";
import type { Tone } from "../receipt_words.ts";

const PATHS = {
  back: "M15 5l-7 7 7 7",
  send: "M12 19V6M6 11.5L12 5.5l6 6",
  mute: "M5 9v6h4l5 4V5L9 9zM18 9l4 6M22 9l-4 6",
  clock: "M12 7v5l3 2M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18z",
  pause: "M10 9v6M14 9v6M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18z",
  check: "M8 12.5l3 3 5.5-6.5M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18z",
  tick: "M4.5 12.5l5 5 10-11.5",
  question:
    "M9.7 9.3a2.4 2.4 0 1 1 3.4 2.2c-.7.3-1.1.9-1.1 1.6v.4M12 16.5v.1M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18z",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M18 10h.01M8 14h8",
  locked: "M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z",
  unlocked: "M7 11V8a5 5 0 0 1 9.6-2M6 11h12v9H6z",
  inbox: "M4 13l3-8h10l3 8v6H4zM4 13h5l1.5 2.5h3L15 13h5",
  bell: "M6 16h12l-1.5-2.2V10a4.5 4.5 0 0 0-9 0v3.8zM10.5 19a1.7 1.7 0 0 0 3 0",
  cross: "M9 9l6 6M15 9l-6 6M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18z",
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration only: the words beside it say the same. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

export const TONE_ICONS: Record<Tone, IconName> = {
  pending: "clock",
  held: "pause",
  good: "check",
  unsure: "question",
  bad: "cross",
};

/** The product's mark: a prompt, answered. */
export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 48 48" aria-hidden="true" focusable="false">
      <rect class="mark-ground" width="48" height="48" rx="13" />
      <path class="mark-prompt" d="M13 16l8 8-8 8" />
      <path class="mark-cursor" d="M25 33h11" />
    </svg>
  );
}
