/** The question before a link signs the phone in as another account. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { outboxOf } from "../selectors.ts";
import type { AccountSwap, PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";

const { swap: WORDS } = STRINGS;

export interface SwapActions {
  swapAccount(): void;
  keepAccount(): void;
}

export function SwapView(
  { swap: { from, to }, state, actions }: { swap: AccountSwap; state: PhoneState; actions: SwapActions },
): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const unsent = outboxOf(state).length;
  return (
    <main class="pairing">
      <h1 ref={heading} tabIndex={-1}>{WORDS.heading}</h1>
      <p class="lead">{WORDS.question}</p>
      <dl class="accounts">
        <dt>{WORDS.from}</dt>
        <dd>
          <code>{from}</code>
        </dd>
        <dt>{WORDS.to}</dt>
        <dd>
          <code>{to}</code>
        </dd>
      </dl>
      <p>{WORDS.lost(unsent)}</p>
      <div class="pairing-actions">
        <button type="button" class="primary" onClick={actions.keepAccount}>{WORDS.keep}</button>
        <button type="button" class="secondary" onClick={actions.swapAccount}>{WORDS.change}</button>
      </div>
    </main>
  );
}
