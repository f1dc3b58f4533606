/** Shared by several views: icons, fields, state chip, lock sign, session labels, the link's notice, and lazy views. */
import { type ComponentType, Fragment, type JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { LINK_PROBLEMS, type LinkProblem, needsSignIn } from "../../client/link_problem.ts";
import type { Sealing } from "../../crypto/mode.ts";
import { hostOf, type Push } from "../../protocol/push.ts";
import { sessionNameOf } from "../attention.ts";
import { formatAge } from "../format_time.ts";
import { newestAt } from "../inbox.ts";
import type { Tone } from "../receipt_text.ts";
import { formatRoute, type Route } from "../route.ts";
import { findSession, type HostSession } from "../sessions.ts";
import type { LinkView, PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";

const { link: LINK } = STRINGS;

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
  settings:
    "M12 15.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM12 3v2.4M12 18.6V21M3 12h2.4M18.6 12H21M5.6 5.6l1.7 1.7M16.7 16.7l1.7 1.7M5.6 18.4l1.7-1.7M16.7 7.3l1.7-1.7",
  more: "M12 5v.5M12 11.75v.5M12 18.5v.5",
  up: "M6 14.5l6-6 6 6",
  down: "M6 9.5l6 6 6-6",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  pencil: "M4.5 19.5l1-4L16 5l3 3L8.5 18.5zM13.8 7.2l3 3",
  warning: "M12 4L2.8 20h18.4zM12 10v4.5M12 17.3v.1",
  cross: "M9 9l6 6M15 9l-6 6M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18z",
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration only: the text next to it has the same meaning. */
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
  off: "cross",
};

export function SearchInput(
  { label, value, onInput }: { label: string; value: string; onInput(value: string): void },
): JSX.Element {
  return (
    <input
      type="search"
      class="text-field"
      aria-label={label}
      placeholder={label}
      autocomplete="off"
      autocapitalize="none"
      enterkeyhint="search"
      value={value}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  );
}

/** Dispatched for the search shortcut if the view has no search field; a view may handle it. */
export const SEARCH_EVENT = "svc:search";

/** The logo: a prompt with a cursor. */
export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 48 48" aria-hidden="true" focusable="false">
      <rect class="mark-ground" width="48" height="48" rx="13" />
      <path class="mark-prompt" d="M13 16l8 8-8 8" />
      <path class="mark-cursor" d="M25 33h11" />
    </svg>
  );
}

/** The head of a view with a way back. The heading takes the focus, so that a screen reader announces the view. */
export function PageHead(
  { heading, back, backTo }: { heading: string; back: string; backTo: Route },
): JSX.Element {
  const title = useRef<HTMLHeadingElement>(null);
  // Runs before the view is painted: later, it would take the focus from a field that was tapped meanwhile.
  useLayoutEffect(() => title.current?.focus(), []);
  return (
    <header class="session-head">
      <a class="back" href={formatRoute(backTo)} aria-label={back}>
        <Icon name="back" />
      </a>
      <div class="session-title">
        <h1 ref={title} tabIndex={-1}>{heading}</h1>
      </div>
    </header>
  );
}

interface TextFieldProps {
  id: string;
  label: string;
  /** Explains the field, below it. */
  hint: string;
  value: string;
  onText(text: string): void;
  isSecret?: boolean;
  isWrong?: boolean;
  autocomplete: "off" | "current-password";
  /** Shown next to the field. */
  button: JSX.Element;
}

/** A labeled field for a text that is copied rather than written: nothing corrects or capitalizes it. */
export function TextField(
  { id, label, hint, value, onText, isSecret = false, isWrong = false, autocomplete, button }: TextFieldProps,
): JSX.Element {
  return (
    <>
      <label for={id}>{label}</label>
      <div class="field">
        <input
          id={id}
          {...(isSecret ? { type: "password" } : { type: "text" })}
          value={value}
          onInput={(event) => onText(event.currentTarget.value)}
          autocomplete={autocomplete}
          autocapitalize="none"
          spellcheck={false}
          aria-describedby={`${id}-hint`}
          aria-invalid={isWrong}
          required
        />
        {button}
      </div>
      <p id={`${id}-hint`} class="hint">{hint}</p>
    </>
  );
}

interface CheckboxProps {
  label: string;
  checked: boolean;
  onToggle(): void;
}

/** A checkbox as large as its row. */
export function Checkbox({ label, checked, onToggle }: CheckboxProps): JSX.Element {
  return (
    <label class="tick">
      <input type="checkbox" checked={checked} onChange={onToggle} />
      <Icon name="tick" />
      <span>{label}</span>
    </label>
  );
}

/** Marks the items in view as read when a newer one arrives or the page becomes visible. */
export function useRead(
  key: string,
  { inbox, read }: { inbox: PhoneState["inbox"]; read(key: string): void },
): void {
  const newest = newestAt(inbox);
  // Runs before the view is painted, so that it counts as read even if the user leaves it right away.
  useLayoutEffect(() => {
    const update = (): void => {
      if (document.visibilityState === "visible") read(key);
    };
    // An effect may run during a rendering, which must not start another one.
    queueMicrotask(update);
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, [key, newest]);
}

/** The current time, updated at an interval. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}

/** The number of unread items; nothing if there are none. */
export function Unread({ count }: { count: number }): JSX.Element | null {
  if (count === 0) return null;
  return (
    <span class="unread">
      <span aria-hidden="true">{count}</span>
      <span class="visually-hidden">{STRINGS.unread(count)}</span>
    </span>
  );
}

/** A session's state and how long it has lasted; just "Offline" if its host is offline. */
export function StateChip({ session, now }: { session: HostSession; now: number }): JSX.Element {
  const { state, stateSince } = session.entry;
  if (!session.online) return <span class="chip" data-state="offline">{STRINGS.offline}</span>;
  return (
    <span class="chip" data-state={state}>
      {STRINGS.states[state]}
      <span class="chip-age">{formatAge(now - stateSince)}</span>
    </span>
  );
}

/** A lock with the encryption mode as text. */
export function SealSign(
  { mode, text = STRINGS.sealing.short[mode] }: { mode: Sealing; text?: string },
): JSX.Element {
  return (
    <span class="seal-sign" data-seal={mode}>
      <Icon name={mode === "off" ? "unlocked" : "locked"} />
      <span>{text}</span>
    </span>
  );
}

/** Warns, on a paired phone, that a push came unencrypted and could be forged by the relay. */
export function PlainSign({ state, push }: { state: PhoneState; push: Push }): JSX.Element | null {
  return state.paired.size === 0 || push.sealedFor !== undefined ? null : <NotEncrypted />;
}

export function NotEncrypted(): JSX.Element {
  return (
    <p class="facts seal-sign" data-seal="off">
      <Icon name="unlocked" />
      {STRINGS.sealing.plain}
    </p>
  );
}

/** A command to type or a setting to write. Lines break only between words: a hyphen would split an option. */
export function Command({ text }: { text: string }): JSX.Element {
  return (
    <code class="command">
      {text.split(" ").map((word, at) => (
        <Fragment key={at}>
          {at > 0 && " "}
          <span>{word}</span>
        </Fragment>
      ))}
    </code>
  );
}

/** The session's label, with the project emphasized. */
export function SessionLabel({ session }: { session: HostSession }): JSX.Element {
  const { label, project, name } = session.entry;
  if (label === "") return <span class="label">{name}</span>;
  const hasProject = project !== "" && label.startsWith(project);
  if (!hasProject) return <span class="label">{label}</span>;
  return (
    <span class="label">
      {project}
      <span class="label-agent">{label.slice(project.length)}</span>
    </span>
  );
}

/** The session that a push comes from, as a link if the phone knows it, and its host if there are several. */
export function SourceSession({ state, push }: { state: PhoneState; push: Push }): JSX.Element {
  const { devices = [] } = state;
  const name = sessionNameOf(push, state);
  const deviceId = hostOf(push) ?? name?.deviceId;
  return (
    <span class="source">
      <SourceLabel
        name={name?.session ?? push.agentSessionName}
        session={name && findSession(devices, name)}
      />
      <SourceHost state={state} deviceId={deviceId} />
    </span>
  );
}

/** The host's name, if there are several. */
export function SourceHost(
  { state: { devices = [] }, deviceId }: { state: PhoneState; deviceId: string | undefined },
): JSX.Element | null {
  const host = devices.length > 1 ? devices.find((one) => one.deviceId === deviceId)?.host : undefined;
  return host === undefined ? null : <span class="source-host">{host}</span>;
}

function SourceLabel(
  { name, session }: { name: string | undefined; session: HostSession | undefined },
): JSX.Element {
  if (session === undefined) return <span class="label">{name ?? STRINGS.question.noSession}</span>;
  const href = formatRoute({ view: "session", deviceId: session.deviceId, session: session.entry.name });
  return (
    <a class="card-session" href={href}>
      <SessionLabel session={session} />
    </a>
  );
}

interface LinkNoticeProps {
  link: LinkView;
  /** How many messages, answers and requests are still on this phone. */
  unsent: number;
  onTryNow(): void;
  onSignOut(isOver: boolean): void;
}

/** Tells the user that the link is down, why, and what to do. It floats, so that nothing moves when it appears. */
export function LinkNotice(props: LinkNoticeProps): JSX.Element {
  return (
    <div class="notice-place" role="status">
      {props.link.kind === "down" && <Notice {...props} />}
    </div>
  );
}

function Notice({ link, unsent, onTryNow, onSignOut }: LinkNoticeProps): JSX.Element {
  const problem = link.kind === "down" ? link.problem : undefined;
  return (
    <div class="notice">
      {isStopped(link) || <span class="spinner" aria-hidden="true" />}
      <p>
        <strong>{linkText(link)}</strong>
        {problem && <span class="notice-why">{problemText(problem)}</span>}
        {unsent > 0 && <span class="notice-why">{LINK.unsent(unsent)}</span>}
      </p>
      {isStopped(link)
        ? <button type="button" class="quiet" onClick={() => onSignOut(true)}>{LINK.signInAgain}</button>
        : <button type="button" class="quiet" onClick={onTryNow}>{LINK.tryNow}</button>}
    </div>
  );
}

/** A message from the relay itself is shown as it is. */
function problemText({ code, message }: LinkProblem): string {
  return message === LINK_PROBLEMS[code] ? LINK.problems[code] : message;
}

/** The small sign in the picker's header. */
export function LinkSign({ link }: { link: LinkView }): JSX.Element {
  return <span class="link-sign" data-link={link.kind}>{linkText(link)}</span>;
}

function linkText(link: LinkView): string {
  switch (link.kind) {
    case "live":
      return LINK.live;
    case "connecting":
      return LINK.connecting;
    case "down":
      return isStopped(link) ? LINK.stopped : LINK.down;
  }
}

function isStopped(link: LinkView): boolean {
  return link.kind === "down" && needsSignIn(link.problem);
}

/**
 * A view whose code is loaded when it is first shown, with `waiting` in its place until then. A failure is retried when
 * the browser is online.
 */
export function lazyView<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { waiting: Waiting }: { waiting: ComponentType },
): (props: Props) => JSX.Element {
  let loaded: ComponentType<Props> | undefined;
  return (props) => {
    const [, redraw] = useState(0);
    useEffect(() => {
      if (loaded !== undefined) return;
      const update = (): void =>
        void load().then((view) => {
          loaded = view;
          redraw((count) => count + 1);
        }, () => undefined);
      update();
      addEventListener("online", update);
      return () => removeEventListener("online", update);
    }, []);
    if (loaded === undefined) return <Waiting />;
    const View: ComponentType<Props> = loaded;
    return <View {...props} />;
  };
}
