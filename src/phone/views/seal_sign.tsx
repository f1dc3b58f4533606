/** A lock, and how a session is sealed, in words. */
import type { JSX } from "preact";
import type { Sealing } from "../../crypto/mode.ts";
import { STRINGS } from "../strings.ts";
import { Icon } from "./icons.tsx";

export function SealSign({ mode }: { mode: Sealing }): JSX.Element {
  return (
    <span class="seal-sign" data-seal={mode}>
      <Icon name={mode === "off" ? "unlocked" : "locked"} />
      {STRINGS.sealing.modes[mode]}
    </span>
  );
}
