/** The session that a push comes from, as a link to it where the phone knows it. */
import type { JSX } from "preact";
import { askDataOf } from "../../protocol/ask.ts";
import type { Push } from "../../protocol/push.ts";
import { formatRoute } from "../route.ts";
import { findSession, type PickedSession } from "../sessions.ts";
import type { PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { SessionLabel } from "./session_card.tsx";

export function PushSession({ state, push }: { state: PhoneState; push: Push }): JSX.Element {
  const name = push.agentSessionName;
  if (name === undefined) return <span class="label">{STRINGS.question.noSession}</span>;
  const session = sessionOf(state, { push, session: name });
  if (session === undefined) return <span class="label">{name}</span>;
  const href = formatRoute({ view: "session", deviceId: session.deviceId, session: name });
  return (
    <a class="card-session" href={href}>
      <SessionLabel session={session} />
    </a>
  );
}

/** On the host that the push names, else on the only one that has a session of this name. */
function sessionOf(
  { devices = [] }: PhoneState,
  { push, session }: { push: Push; session: string },
): PickedSession | undefined {
  const host = askDataOf(push)?.listener;
  const hosts = host === undefined ? devices.map(({ deviceId }) => deviceId) : [host];
  const [found, other] = hosts.flatMap((deviceId) => findSession(devices, { deviceId, session }) ?? []);
  return other === undefined ? found : undefined;
}
