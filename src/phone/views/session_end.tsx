/** A session that has ended: when, and what can still be done. */
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { itemsOf } from "../attention.ts";
import { formatTime } from "../format_time.ts";
import { formatRoute } from "../route.ts";
import { findSession, type HostSession, type SessionName } from "../sessions.ts";
import { isLinkOpen, messagesOf, type PhoneState } from "../state.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { STRINGS } from "../strings.ts";

const { session: TEXT } = STRINGS;
const { panels: PANELS, end: END } = SESSION_TEXT;

export interface SessionEnd {
  /** As it was last listed; undefined if this page has not seen it. */
  session: HostSession | undefined;
  /** Epoch milliseconds by the relay's clock; undefined if nothing is known about the session. */
  at: number | undefined;
  /** True if `at` is when it ended; else `at` is the last sign of it. */
  isExact: boolean;
  /** It goes on under this name. */
  renamed?: HostSession | undefined;
}

interface Seen {
  session?: HostSession;
  /** When it was last known to be listed. */
  at?: number;
  devices: PhoneState["devices"];
  hasList: boolean;
  /** A list has arrived on the connection that is open. */
  isCurrent: boolean;
  /** The session is in a current list: when it leaves the list, it has just ended. */
  isListed: boolean;
  end?: SessionEnd | undefined;
}

interface EndSource {
  name: SessionName;
  session: HostSession | undefined;
  now: number;
}

/** Returns undefined while the session is listed, and while the list may be outdated. */
export function useSessionEnd(state: PhoneState, { name, session, now }: EndSource): SessionEnd | undefined {
  const isUp = isLinkOpen(state.link);
  const { current: seen } = useRef<Seen>({
    devices: state.devices,
    hasList: hasList(state),
    isCurrent: isUp && hasList(state),
    isListed: false,
  });
  const { isCurrent: wasCurrent, isListed: wasListed, devices: before } = seen;
  const hasNews = seen.devices !== state.devices || (!seen.hasList && hasList(state));
  seen.isCurrent = isUp && (wasCurrent || hasNews);
  seen.hasList = hasList(state);
  seen.isListed = seen.isCurrent && session !== undefined;
  seen.devices = state.devices;
  if (session !== undefined) {
    if (seen.isCurrent && state.link.kind === "live") seen.at = now;
    seen.session = session;
    seen.end = undefined;
  } else if (hasList(state)) {
    seen.end ??= wasListed
      ? {
        session: seen.session,
        at: now,
        isExact: true,
        renamed: renamedIn(state, { before, old: seen.session }),
      }
      : { session: seen.session, at: lastSign(state, { name, seen }), isExact: false };
    const { renamed } = seen.end;
    const isGone = renamed !== undefined && findSession(state.devices ?? [], {
          deviceId: renamed.deviceId,
          session: renamed.entry.name,
        }) === undefined;
    if (isGone) seen.end = { ...seen.end, renamed: renamedIn(state, { before, old: renamed }) };
  }
  return seen.end;
}

/** The session that took the place of the one that was listed before: on its host, and created when that one was. */
function renamedIn(
  { devices = [] }: Pick<PhoneState, "devices">,
  { before = [], old }: { before: PhoneState["devices"]; old: HostSession | undefined },
): HostSession | undefined {
  if (old?.entry.createdAt === undefined) return undefined;
  const { deviceId, entry: { createdAt, agent, cwd } } = old;
  const known = new Set(before.find((one) => one.deviceId === deviceId)?.sessions.map(({ name }) => name));
  const entry = devices.find((one) => one.deviceId === deviceId)?.sessions.find((one) =>
    one.createdAt === createdAt && one.agent === agent && one.cwd === cwd && !known.has(one.name)
  );
  return entry && findSession(devices, { deviceId, session: entry.name });
}

/** True if the relay has sent the list since the page was opened: the history comes after it. */
function hasList({ devices, history }: PhoneState): boolean {
  return devices !== undefined && history !== "unread";
}

function lastSign(
  state: PhoneState,
  { name, seen: { at, session } }: { name: SessionName; seen: Seen },
): number | undefined {
  const times = [
    ...[at, session?.lastSeen].filter((time) => time !== undefined),
    ...itemsOf(state, name).map(({ push }) => push.createdAt),
    ...messagesOf(state, name).flatMap(({ progress }) =>
      progress.kind === "taken" ? progress.receipt.at.submitted ?? [] : []
    ),
  ];
  return times.length === 0 ? undefined : Math.max(...times);
}

interface CardProps {
  name: SessionName;
  end: SessionEnd;
  now: number;
  panel: "terminal" | "messages";
}

/** Shown in place of the keys and the field. */
export function SessionEndCard({ name, end, now, panel }: CardProps): JSX.Element {
  return (
    <div class="session-end">
      <p role="status">
        <strong>{endText(end, now)}</strong> {END.hint}
      </p>
      <div class="session-end-links">
        {end.renamed && (
          <a
            class="button primary"
            href={formatRoute({ view: "session", ...name, session: end.renamed.entry.name })}
          >
            {END.openRenamed}
          </a>
        )}
        {panel === "terminal" && (
          <a class="button secondary" href={formatRoute({ view: "session", ...name, panel: "messages" })}>
            {PANELS.messages}
          </a>
        )}
        <a class="button secondary" href={formatRoute({ view: "picker" })}>{TEXT.back}</a>
      </div>
    </div>
  );
}

function endText({ at, isExact, renamed }: SessionEnd, now: number): string {
  if (renamed !== undefined) return END.renamed(renamed.entry.name);
  if (at === undefined) return END.ended;
  const time = formatTime(at, now);
  return isExact ? END.at(time) : END.since(time);
}
