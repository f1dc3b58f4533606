/** One session in the picker. */
import type { JSX } from "preact";
import { agoWords } from "../ages.ts";
import { formatRoute } from "../route.ts";
import { type PickedSession, screenTitle } from "../sessions.ts";
import { STRINGS } from "../strings.ts";
import { Icon } from "./icons.tsx";
import { StateChip } from "./state_chip.tsx";

const { card: WORDS } = STRINGS;

interface Props {
  session: PickedSession;
  /** By the relay's clock. */
  now: number;
}

export function SessionCard({ session, now }: Props): JSX.Element {
  const { deviceId, entry, online } = session;
  const title = screenTitle(session);
  const href = formatRoute({ view: "session", deviceId, session: entry.name });
  return (
    <li>
      <a class="card" href={href} data-state={online ? entry.state : "offline"}>
        <div class="card-head">
          <SessionLabel session={session} />
          <StateChip session={session} now={now} />
        </div>
        {title !== "" && <p class="card-title">{title}</p>}
        <CardFacts session={session} now={now} />
      </a>
    </li>
  );
}

/** The project stands out, the agent follows: together they read as the label. */
export function SessionLabel({ session }: { session: PickedSession }): JSX.Element {
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

function CardFacts({ session, now }: Props): JSX.Element {
  const { entry, host, online, lastSeen } = session;
  return (
    <p class="facts">
      <span>{host}</span>
      {online
        ? <span>{entry.attached ? WORDS.attached : WORDS.detached}</span>
        : <span>{WORDS.lastSeen(agoWords(now - lastSeen))}</span>}
      {entry.muted && (
        <span class="fact-icon">
          <Icon name="mute" />
          {WORDS.muted}
        </span>
      )}
      {online && !entry.addressable && <span>{WORDS.notAddressable}</span>}
      {entry.measuredVersion !== undefined && (
        <span>{WORDS.newerAgent(entry.agentVersion ?? "", entry.measuredVersion)}</span>
      )}
      {entry.widened !== undefined && <span>{WORDS.widened(entry.widened.join(", "))}</span>}
    </p>
  );
}
