/** The sheet that starts an agent in a project that a host knows. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AGENT_LABELS, isAgentKind } from "../../protocol/names.ts";
import type { DeviceSessions, StartChoices } from "../../protocol/session.ts";
import type { StartData } from "../../protocol/push.ts";
import { progressOf } from "../requests.ts";
import { formatRoute } from "../route.ts";
import { type PhoneState, relayNow } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { Command, useNow } from "./shared.tsx";

const { start: TEXT } = STRINGS;
const NOW_EVERY_MS = 5_000;

export interface StartActions {
  /** Returns the id of the request's message. */
  startAgent(deviceId: string, start: StartData): string;
}

interface Props {
  state: PhoneState;
  actions: StartActions;
  onClose(): void;
}

export function StartSheet({ state, actions, onClose }: Props): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [chosen, setChosen] = useState<string>();
  const [asked, setAsked] = useState<{ id: string; deviceId: string }>();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const hosts = (state.devices ?? []).filter(({ online }) => online);
  const host = hosts.find(({ deviceId }) => deviceId === chosen) ?? hosts[0];
  return (
    <dialog class="sheet" ref={dialog} aria-labelledby="start-heading" onClose={onClose}>
      <h2 id="start-heading">{TEXT.heading}</h2>
      {asked === undefined
        ? (
          <>
            {hosts.length > 1 && (
              <Choice label={TEXT.host} value={host?.deviceId ?? ""} onChoose={setChosen}>
                {hosts.map(({ deviceId, host }) => [deviceId, host])}
              </Choice>
            )}
            {host && (
              <HostStart
                key={host.deviceId}
                {...{ state, host }}
                onStart={(start) =>
                  setAsked({ id: actions.startAgent(host.deviceId, start), deviceId: host.deviceId })}
              />
            )}
          </>
        )
        : (
          <Progress
            {...{ state, asked }}
            onBack={() => setAsked(undefined)}
            onDone={() => dialog.current?.close()}
          />
        )}
      <button type="button" class="quiet" onClick={() => dialog.current?.close()}>{TEXT.close}</button>
    </dialog>
  );
}

interface HostStartProps {
  state: PhoneState;
  host: DeviceSessions;
  onStart(start: StartData): void;
}

/** The choices that this host offers a phone, or why there are none. */
function HostStart({ state, host, onStart }: HostStartProps): JSX.Element {
  const details = state.details.get(host.deviceId);
  if (details === undefined) return <p>{TEXT.unknown(host.host)}</p>;
  const { start } = details;
  if (start === undefined) return <Hint text={TEXT.notAllowed(host.host)} code={TEXT.setting} />;
  if (start.projects.length === 0) return <Hint text={TEXT.noProjects(host.host)} code={TEXT.command} />;
  return <Choices start={start} onStart={onStart} />;
}

function Hint({ text, code }: { text: string; code: string }): JSX.Element {
  return (
    <>
      <p>{text}</p>
      <Command text={code} />
    </>
  );
}

function Choices(
  { start, onStart }: { start: StartChoices; onStart(start: StartData): void },
): JSX.Element {
  const [directory, setDirectory] = useState(start.projects[0]?.directory ?? "");
  const [agent, setAgent] = useState(start.agents[0] ?? "");
  const project = start.projects.find((one) => one.directory === directory) ?? start.projects[0];
  const submit = (event: Event): void => {
    event.preventDefault();
    if (project !== undefined) onStart({ agent, ...project });
  };
  return (
    <form class="choices decision" onSubmit={submit}>
      <Choice label={TEXT.project} value={project?.directory ?? ""} onChoose={setDirectory}>
        {start.projects.map((one) => [one.directory, projectLabel(one, start.projects)])}
      </Choice>
      <p class="hint path">{project?.directory}</p>
      <Choice label={TEXT.agent} value={agent} onChoose={setAgent}>
        {start.agents.map((kind) => [kind, isAgentKind(kind) ? AGENT_LABELS[kind] : kind])}
      </Choice>
      <button type="submit" class="primary">{TEXT.start}</button>
    </form>
  );
}

/** The project's name, with its parent folder if two projects have the same name. */
function projectLabel(
  { project, directory }: StartChoices["projects"][number],
  all: StartChoices["projects"],
): string {
  const isOnly = all.filter((one) => one.project === project).length === 1;
  return isOnly ? project : `${project} (${directory.split("/").at(-2) ?? ""})`;
}

interface ChoiceProps {
  label: string;
  value: string;
  onChoose(value: string): void;
  /** Value and text of each option. */
  children: [string, string][];
}

function Choice({ label, value, onChoose, children }: ChoiceProps): JSX.Element {
  return (
    <label class="setting">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {children.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
      </select>
    </label>
  );
}

interface ProgressProps {
  state: PhoneState;
  asked: { id: string; deviceId: string };
  onBack(): void;
  onDone(): void;
}

/** Opens the session as soon as the agent runs. */
function Progress({ state, asked, onBack, onDone }: ProgressProps): JSX.Element {
  const now = relayNow(state, useNow(NOW_EVERY_MS));
  const progress = progressOf(state, { id: asked.id, now });
  const session = progress.kind === "done" ? progress.session : undefined;
  useEffect(() => {
    if (session === undefined) return;
    onDone();
    location.hash = formatRoute({ view: "session", deviceId: asked.deviceId, session });
  }, [session]);
  return (
    <>
      <p role="status" class="standing">
        {progress.kind === "failed"
          ? TEXT.failed(progress.why)
          : progress.kind === "unclear"
          ? TEXT.unclear
          : TEXT.starting}
      </p>
      {progress.kind === "failed" && (
        <button type="button" class="secondary" onClick={onBack}>{TEXT.again}</button>
      )}
    </>
  );
}
