/** A lock, and how a session is sealed, in words. */
import type { JSX } from "preact";
import type { Sealing } from "../../crypto/mode.ts";
import { STRINGS } from "../strings.ts";
import { Icon } from "./icons.tsx";

/** `short`: in few words, where there is little room. */
export function SealSign({ mode, short = false }: { mode: Sealing; short?: boolean }): JSX.Element {
  const words = short ? STRINGS.sealing.short : STRINGS.sealing.modes;
  return (
    <span class="seal-sign" data-seal={mode}>
      <Icon name={mode === "off" ? "unlocked" : "locked"} />
      {words[mode]}
    </span>
  );
}
