/** Settings of notifications: on and off, what rings, quiet hours, each session, and the test. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RING_KINDS, type RingKind } from "../../protocol/web_push.ts";
import type { Ringing, RingingState, TestRun } from "../ringing.ts";
import { groupSessions, type HostSession, sessionKey } from "../sessions.ts";
import type { PhoneState } from "../state.ts";
import { NOTIFICATION_TEXT } from "../notification_text.ts";
import { Checkbox, Icon, PageHead } from "./shared.tsx";

const { notifications: TEXT } = NOTIFICATION_TEXT;

interface Props {
  state: PhoneState;
  ringing: Ringing;
  /** The link's notice. */
  notice: JSX.Element;
}

export function NotificationsView({ state, ringing, notice }: Props): JSX.Element {
  const current = useRinging(ringing);
  const { support, isOn } = current;
  return (
    <div class="page">
      <PageHead heading={TEXT.heading} back={TEXT.back} backTo={{ view: "settings" }} />
      <main class="picker notifications">
        <p class="lead">{TEXT.lead}</p>
        {support === "ready"
          ? <Switch current={current} ringing={ringing} />
          : <p class="why-not" role="status">{TEXT.why[support]}</p>}
        {support === "ready" && isOn && (
          <>
            <Test test={current.test} onTest={() => void ringing.test()} />
            <Kinds current={current} ringing={ringing} />
            <Quiet current={current} ringing={ringing} />
            <Sessions state={state} current={current} ringing={ringing} />
            <button type="button" class="secondary" onClick={() => void ringing.switchOff()}>
              {TEXT.off}
            </button>
          </>
        )}
      </main>
      {notice}
    </div>
  );
}

function useRinging(ringing: Ringing): RingingState {
  const [current, setCurrent] = useState(ringing.state);
  useEffect(() => {
    const end = ringing.watch(setCurrent);
    setCurrent(ringing.state);
    void ringing.load();
    return end;
  }, [ringing]);
  return current;
}

interface PartProps {
  current: RingingState;
  ringing: Ringing;
}

function Switch({ current: { isOn, busy, problem }, ringing }: PartProps): JSX.Element {
  return (
    <section class="ring-switch">
      {isOn
        ? (
          <p class="fact-icon" role="status">
            <Icon name="check" />
            {TEXT.isOn}
          </p>
        )
        : (
          <button type="button" class="primary" disabled={busy} onClick={() => void ringing.switchOn()}>
            {busy ? TEXT.turningOn : TEXT.on}
          </button>
        )}
      <div role="alert">{problem && <p class="problem">{TEXT.problem(problem)}</p>}</div>
    </section>
  );
}

function Part(
  { id, heading, children }: { id: string; heading: string; children: ComponentChildren },
): JSX.Element {
  return (
    <section class="group" aria-labelledby={id}>
      <h2 id={id}>{heading}</h2>
      <div class="card ring-part">{children}</div>
    </section>
  );
}

function Kinds({ current: { preferences }, ringing }: PartProps): JSX.Element {
  return (
    <Part id="ring-kinds" heading={TEXT.kindsHeading}>
      <KindSwitches off={preferences.off} onToggle={(kind, rings) => ringing.setKind(kind, rings)} />
    </Part>
  );
}

interface KindSwitchesProps {
  off: readonly RingKind[];
  onToggle(kind: RingKind, rings: boolean): void;
}

function KindSwitches({ off, onToggle }: KindSwitchesProps): JSX.Element {
  return (
    <>
      {RING_KINDS.map((kind) => (
        <Checkbox
          key={kind}
          label={TEXT.kinds[kind]}
          checked={!off.includes(kind)}
          onToggle={() => onToggle(kind, off.includes(kind))}
        />
      ))}
    </>
  );
}

function Quiet({ current: { preferences: { quiet } }, ringing }: PartProps): JSX.Element {
  const field = (name: "from" | "to"): JSX.Element => (
    <label class="quiet-time">
      {TEXT[name]}
      <input
        type="time"
        class="text-field"
        required
        value={quiet?.[name] ?? ""}
        onChange={({ currentTarget: { value } }) => {
          if (quiet !== undefined && value !== "") ringing.setQuiet({ ...quiet, [name]: value });
        }}
      />
    </label>
  );
  return (
    <Part id="ring-quiet" heading={TEXT.quietHeading}>
      <Checkbox
        label={TEXT.quiet}
        checked={quiet !== undefined}
        onToggle={() => quiet === undefined ? ringing.startQuiet() : ringing.setQuiet(undefined)}
      />
      {quiet !== undefined && (
        <>
          <div class="quiet-times">{field("from")}{field("to")}</div>
          <p class="hint">{TEXT.quietHint(quiet.timeZone)}</p>
        </>
      )}
    </Part>
  );
}

function Sessions({ state, current, ringing }: PartProps & { state: PhoneState }): JSX.Element {
  const sessions = groupSessions(state.devices ?? []).flatMap((group) => group.sessions);
  const hasHosts = new Set(sessions.map(({ deviceId }) => deviceId)).size > 1;
  return (
    <Part id="ring-sessions" heading={TEXT.sessionsHeading}>
      {sessions.length === 0 && <p class="hint">{TEXT.sessionsNone}</p>}
      {sessions.map((session) => (
        <SessionSwitches key={keyOf(session)} {...{ session, hasHosts, current, ringing }} />
      ))}
    </Part>
  );
}

function SessionSwitches(
  { session, hasHosts, current: { preferences }, ringing }: PartProps & {
    session: HostSession;
    /** Sessions of several hosts are shown. */
    hasHosts: boolean;
  },
): JSX.Element {
  const key = keyOf(session);
  const off = preferences.sessions[key] ?? [];
  const status = off.length === RING_KINDS.length ? TEXT.sessionSilent : TEXT.sessionState(off.length);
  return (
    <details class="ring-session">
      <summary>
        <span>
          {session.entry.label || session.entry.name}
          {hasHosts && <span class="hint">{` ${session.host}`}</span>}
        </span>
        <span class="hint">{status}</span>
      </summary>
      <KindSwitches off={off} onToggle={(kind, rings) => ringing.setSession(key, kind, rings)} />
    </details>
  );
}

function keyOf({ deviceId, entry }: HostSession): string {
  return sessionKey({ deviceId, session: entry.name });
}

function Test({ test, onTest }: { test: TestRun | undefined; onTest(): void }): JSX.Element {
  const steps = test === undefined ? [] : stepsOf(test);
  const isRunning = test !== undefined && test.relay === undefined;
  return (
    <Part id="ring-test" heading={TEXT.testHeading}>
      <button type="button" class="secondary" disabled={isRunning} onClick={onTest}>
        {isRunning ? TEXT.testing : TEXT.test}
      </button>
      <div role="status">
        <ol class="test-steps">
          {steps.map(({ text, tone }) => (
            <li key={text} data-tone={tone}>
              <Icon name={tone === "good" ? "check" : tone === "bad" ? "cross" : "clock"} />
              {text}
            </li>
          ))}
        </ol>
      </div>
    </Part>
  );
}

interface Step {
  text: string;
  tone: "good" | "bad" | "pending";
}

/** The steps of the test that are known so far. */
function stepsOf({ relay, vendor, phone }: TestRun): Step[] {
  const steps = TEXT.testSteps;
  const good = (text: string): Step => ({ text, tone: "good" });
  const bad = (text: string): Step => ({ text, tone: "bad" });
  const found: Step[] = [];
  if (relay !== undefined) {
    found.push(
      "problem" in relay ? bad(steps.relayFailed(relay.problem)) : good(steps.relay(relay.milliseconds)),
    );
  }
  if (vendor !== undefined) {
    const { vendor: accepted, vendorFailed } = steps;
    found.push("problem" in vendor ? bad(vendorFailed(vendor.problem)) : good(accepted(vendor.milliseconds)));
  }
  if (phone !== undefined) {
    found.push(good(steps.opened(phone.opened)));
    found.push(phone.sealed ? good(steps.sealed) : { text: steps.plain, tone: "pending" });
    found.push(good(steps.shown(phone.shown)));
  } else if (vendor !== undefined && !("problem" in vendor)) {
    found.push({ text: steps.waiting, tone: "pending" });
  }
  return found;
}
