/** The sheet about one session: where it runs, since when, muting its project, and ending its agent. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ALLOW_AGENT_END } from "../../protocol/session.ts";
import { formatAgo } from "../format_time.ts";
import { progressOf, type RequestProgress } from "../requests.ts";
import type { HostSession } from "../sessions.ts";
import { type PhoneState, relayNow } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { type MuteActions, SessionMute } from "./mute.tsx";
import { Command, useNow } from "./shared.tsx";

const { menu: TEXT } = STRINGS;
const NOW_EVERY_MS = 5_000;

export interface MenuActions extends MuteActions {
  /** Returns the id of the request's message. */
  endAgent(session: HostSession): string;
}

interface Props {
  state: PhoneState;
  session: HostSession;
  actions: MenuActions;
  onClose(): void;
}

export function SessionSheet({ state, session, actions, onClose }: Props): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const now = relayNow(state, useNow(NOW_EVERY_MS));
  return (
    <dialog class="sheet" ref={dialog} aria-labelledby="menu-heading" onClose={onClose}>
      <h2 id="menu-heading">{session.entry.label || session.entry.name}</h2>
      <Facts session={session} now={now} />
      <SessionMute key={session.entry.createdAt} {...{ state, session, now, actions }} />
      <End key={session.entry.createdAt} {...{ state, session, now, actions }} />
      <button type="button" class="quiet" onClick={() => dialog.current?.close()}>{TEXT.close}</button>
    </dialog>
  );
}

function Facts({ session, now }: { session: HostSession; now: number }): JSX.Element {
  const { cwd, createdAt, agentVersion } = session.entry;
  return (
    <dl class="accounts">
      <dt>{TEXT.host}</dt>
      <dd>{session.host}</dd>
      <dt>{TEXT.directory}</dt>
      <dd>{cwd}</dd>
      {createdAt !== undefined && (
        <>
          <dt>{TEXT.started}</dt>
          <dd>{formatAgo(now - createdAt)}</dd>
        </>
      )}
      {agentVersion !== undefined && (
        <>
          <dt>{TEXT.version}</dt>
          <dd>{agentVersion}</dd>
        </>
      )}
    </dl>
  );
}

interface EndProps extends Pick<Props, "state" | "session" | "actions"> {
  now: number;
}

/** A ref for an element that replaces the focused button. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}

/** Its key resets it when another session takes the name: an answer is only for the session that the user saw. */
function End({ state, session, now, actions }: EndProps): JSX.Element | null {
  const [step, setStep] = useState<"offered" | "asked" | "kept" | { id: string }>("offered");
  const { entry, online } = session;
  if (typeof step === "object") {
    const progress = progressOf(state, { id: step.id, now });
    return <p ref={takeFocus} tabIndex={-1} role="status" class="standing">{endText(progress)}</p>;
  }
  if (!online || entry.state === "exited" || entry.createdAt === undefined || entry.agent === "") return null;
  if (!entry.widened?.includes(ALLOW_AGENT_END)) {
    return (
      <>
        <p class="hint">{TEXT.endNotAllowed}</p>
        <Command text={TEXT.endSetting} />
      </>
    );
  }
  if (step !== "asked") {
    return (
      <button
        ref={step === "kept" ? takeFocus : null}
        type="button"
        class="secondary"
        onClick={() => setStep("asked")}
      >
        {TEXT.end}
      </button>
    );
  }
  return (
    <div class="choices decision" role="group" aria-label={TEXT.end}>
      <p>
        {TEXT.endAsk(entry.label || entry.name)}
        {entry.attached && ` ${TEXT.endAttached}`}
      </p>
      <button type="button" class="danger" onClick={() => setStep({ id: actions.endAgent(session) })}>
        {TEXT.endNow}
      </button>
      <button ref={takeFocus} type="button" class="secondary" onClick={() => setStep("kept")}>
        {TEXT.keep}
      </button>
    </div>
  );
}

function endText(progress: RequestProgress): string {
  if (progress.kind === "failed") return TEXT.failed(progress.why);
  return { pending: TEXT.ending, done: TEXT.ended, unclear: TEXT.unclear }[progress.kind];
}
