/** Muting a project: in a session's sheet, and the list of muted projects in the settings. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { muteRequest, openRequest, progressOf, type RequestProgress, unmuteRequest } from "../requests.ts";
import type { HostSession } from "../sessions.ts";
import type { PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { Section } from "./settings_parts.tsx";
import { Command } from "./shared.tsx";

const { mute: TEXT } = STRINGS;

export interface MuteActions {
  /** Returns the id of the request's message, as does `unmute`. */
  mute(session: HostSession, muted: boolean): string;
  unmute(deviceId: string, directory: string): string;
}

interface Props {
  state: PhoneState;
  /** The relay's clock. */
  now: number;
  actions: MuteActions;
}

/**
 * Mutes a session's project. There is no button if the host does not report what it has muted: offline, or an older
 * svc.
 */
export function SessionMute({ state, session, now, actions }: Props & { session: HostSession }) {
  const [hasAsked, setHasAsked] = useState(false);
  const { entry: { muted, createdAt }, online, deviceId } = session;
  const known = state.details.get(deviceId)?.muted;
  const body = muteRequest(session, { muted: !muted }).body;
  const isOpen = openRequest(state, { deviceId, body, now }) !== undefined;
  if (!isOpen && (!online || known === undefined || createdAt === undefined)) {
    const needsLink = createdAt !== undefined && state.link.kind !== "live";
    return (
      <>
        {muted && <p>{TEXT.isMuted}</p>}
        {needsLink && <p class="hint">{TEXT.needsLink}</p>}
      </>
    );
  }
  // The button stays once it was used: the list may be older than the session's state.
  if (muted && !hasAsked && !isOpen && known?.length && !known.some(({ byPhone }) => byPhone)) {
    return (
      <>
        <p class="hint">{TEXT.mutedThere}</p>
        <Command text={TEXT.command} />
      </>
    );
  }
  return (
    <>
      <p class="hint">{muted ? TEXT.isMuted : TEXT.hint}</p>
      <Ask
        {...{ state, now, deviceId, body }}
        label={muted ? TEXT.unmute : TEXT.mute}
        kind="secondary"
        ask={() => {
          setHasAsked(true);
          return actions.mute(session, !muted);
        }}
      />
    </>
  );
}

export function MutedProjects({ state, now, actions }: Props): JSX.Element {
  const hosts = (state.devices ?? []).map(({ deviceId, host, online }) => ({
    deviceId,
    host,
    online,
    muted: state.details.get(deviceId)?.muted ?? [],
  }));
  const isEmpty = hosts.every(({ muted }) => muted.length === 0);
  // The hosts report it on every connection.
  const isUnknown = isEmpty && state.details.size === 0 && state.link.kind !== "live";
  const hint = isUnknown ? TEXT.needsLink : isEmpty ? TEXT.none : TEXT.listHint;
  return (
    <Section name="muted" heading={TEXT.heading} hint={hint}>
      <ul class="cards">
        {hosts.flatMap(({ deviceId, host, online, muted }) =>
          muted.map(({ directory, byPhone }) => (
            <li key={`${deviceId} ${directory}`} class="card">
              <p class="path">{directory}</p>
              <p class="facts">
                <span>{host}</span>
                <span>{byPhone ? TEXT.byPhone : TEXT.atComputer}</span>
              </p>
              {online && byPhone === true && (
                <Ask
                  {...{ state, now, deviceId }}
                  body={unmuteRequest(deviceId, directory).body}
                  label={TEXT.unmute}
                  about={directory}
                  kind="quiet"
                  ask={() => actions.unmute(deviceId, directory)}
                />
              )}
            </li>
          ))
        )}
      </ul>
    </Section>
  );
}

interface AskProps extends Pick<Props, "state" | "now"> {
  deviceId: string;
  /** The request's body, by which a request from before a reload is found. */
  body: string;
  label: string;
  /** Distinguishes it from others of the same label for a screen reader. */
  about?: string;
  kind: "secondary" | "quiet";
  ask(): string;
}

/** The button stays in its place, and keeps the focus, while the host answers. */
function Ask({ state, now, deviceId, body, label, about, kind, ask }: AskProps): JSX.Element {
  const [asked, setAsked] = useState<{ id: string; label: string }>();
  const found = asked?.label === label ? asked.id : openRequest(state, { deviceId, body, now });
  useEffect(() => {
    if (found !== undefined && found !== asked?.id) setAsked({ id: found, label });
  }, [found, label]);
  const progress = found === undefined ? undefined : progressOf(state, { id: found, now });
  const isBusy = progress?.kind === "pending";
  return (
    <>
      <button
        type="button"
        class={kind}
        aria-disabled={isBusy}
        {...(about === undefined ? {} : { "aria-label": `${label} ${about}` })}
        onClick={() => isBusy || setAsked({ id: ask(), label })}
      >
        {label}
      </button>
      <p role="status" class="standing">{progress && textOf(progress, state)}</p>
    </>
  );
}

function textOf(progress: RequestProgress, { link }: PhoneState): string {
  if (progress.kind === "failed") return TEXT.failed(progress.why);
  if (progress.kind === "pending" && progress.unsaved) return "";
  if (progress.kind === "pending" && link.kind !== "live") return STRINGS.receipt.waitingForLink;
  return { pending: TEXT.asking, done: TEXT.done, unclear: TEXT.unclear }[progress.kind];
}
