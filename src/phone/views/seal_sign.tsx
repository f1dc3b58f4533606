/** A lock, and how a session is sealed, in words. */
import type { JSX } from "preact";
import type { Sealing } from "../../crypto/mode.ts";
import type { Push } from "../../protocol/push.ts";
import type { PhoneState } from "../state.ts";
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

/** On a paired phone what is told and asked comes sealed: what did not is the relay's word only. */
export function PlainSign({ state, push }: { state: PhoneState; push: Push }): JSX.Element | null {
  if (state.paired.size === 0 || push.sealedFor !== undefined) return null;
  return (
    <p class="facts seal-sign" data-seal="off">
      <Icon name="unlocked" />
      {STRINGS.sealing.plain}
    </p>
  );
}
