/** What can be done with a message, wherever its receipt shows: cancel, edit, send again. */
import type { JSX } from "preact";
import { formatWait } from "../format_time.ts";
import type { Message } from "../message.ts";
import type { ReceiptText } from "../receipt_text.ts";
import { STRINGS } from "../strings.ts";
import { useNow } from "./shared.tsx";

const { bubble: TEXT } = STRINGS;
const SECOND_MS = 1_000;
const RARELY_MS = 3_600_000;

export interface ReceiptActionsHandlers {
  resend(message: Message): void;
  discard(id: string): void;
  cancel(message: Message): void;
  edit(message: Message): void;
}

interface Props {
  message: Message;
  receipt: ReceiptText;
  clockOffsetMs: number;
  actions: ReceiptActionsHandlers;
}

export function ReceiptActions({ message, receipt, clockOffsetMs, actions }: Props): JSX.Element | null {
  const { discardable, cancellable, editable } = receipt;
  const resendFrom = message.sealed === "elsewhere" ? undefined : receipt.resendFrom;
  if (!discardable && !cancellable && !editable && resendFrom === undefined) return null;
  return (
    <div class="bubble-actions">
      {discardable && <Quiet label={TEXT.discard} onClick={() => actions.discard(message.id)} />}
      {cancellable && <Quiet label={TEXT.cancel} onClick={() => actions.cancel(message)} />}
      {editable && <Quiet label={TEXT.edit} onClick={() => actions.edit(message)} />}
      {resendFrom !== undefined && (
        <ResendButton
          from={resendFrom - clockOffsetMs}
          label={receipt.anyway ? TEXT.sendAnyway : TEXT.sendAgain}
          onClick={() => actions.resend(message)}
        />
      )}
    </div>
  );
}

function Quiet({ label, onClick }: { label: string; onClick(): void }): JSX.Element {
  return <button type="button" class="quiet" onClick={onClick}>{label}</button>;
}

/** Counts down to `from`, by this device's clock. */
function ResendButton(
  { from, label, onClick }: { from: number; label: string; onClick(): void },
): JSX.Element {
  const now = useNow(from > Date.now() ? SECOND_MS : RARELY_MS);
  const wait = from - now;
  return (
    <button type="button" class="secondary" disabled={wait > 0} onClick={onClick}>
      {wait > 0 ? TEXT.sendAgainIn(formatWait(wait)) : label}
    </button>
  );
}
