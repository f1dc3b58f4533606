/** The choice of when a message is typed that is not typed at once. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Later } from "../../protocol/later.ts";
import type { SessionEntry } from "../../protocol/session.ts";
import { formatTime } from "../format_time.ts";
import { fieldTime, LATER_MAX_MS, suggestedTimes } from "../later.ts";
import { SESSION_TEXT } from "../session_text.ts";

const { later: TEXT } = SESSION_TEXT;

interface Props {
  limit: SessionEntry["limit"];
  /** Times are by this device's clock. */
  onChoose(later: Later): void;
  onClose(): void;
}

export function LaterDialog({ limit, onChoose, onClose }: Props): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [now] = useState(Date.now);
  useEffect(() => dialog.current?.showModal(), []);
  const choose = (later: Later): void => {
    dialog.current?.close();
    onChoose(later);
  };
  return (
    <dialog class="sheet" ref={dialog} aria-labelledby="later-heading" onClose={onClose}>
      <h2 id="later-heading">{TEXT.heading}</h2>
      <div class="choices">
        <Choice label={TEXT.idle} onClick={() => choose({ kind: "idle" })} />
        {limit && <Choice label={resetLabel(limit, now)} onClick={() => choose({ kind: "reset" })} />}
        {suggestedTimes(now).map((at) => (
          <Choice
            key={at}
            label={TEXT.at(formatTime(at, now))}
            onClick={() => choose({ kind: "at", at })}
          />
        ))}
      </div>
      <OtherTime now={now} onChoose={(at) => choose({ kind: "at", at })} />
      <button type="button" class="quiet" onClick={() => dialog.current?.close()}>{TEXT.cancel}</button>
    </dialog>
  );
}

function resetLabel({ resetsAt }: NonNullable<SessionEntry["limit"]>, now: number): string {
  return resetsAt === undefined ? TEXT.reset : TEXT.resetAt(formatTime(resetsAt, now));
}

function Choice({ label, onClick }: { label: string; onClick(): void }): JSX.Element {
  return <button type="button" class="secondary" onClick={onClick}>{label}</button>;
}

function OtherTime({ now, onChoose }: { now: number; onChoose(at: number): void }): JSX.Element {
  const [value, setValue] = useState("");
  const at = new Date(value).getTime();
  const isPossible = now < at && at <= now + LATER_MAX_MS;
  return (
    <div class="other-time">
      <label>
        {TEXT.other}
        <input
          type="datetime-local"
          class="text-field"
          min={fieldTime(now)}
          max={fieldTime(now + LATER_MAX_MS)}
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      <button type="button" class="primary" disabled={!isPossible} onClick={() => onChoose(at)}>
        {TEXT.schedule}
      </button>
    </div>
  );
}
