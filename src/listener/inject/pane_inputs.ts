/**
 * The inputs of all panes. Finds the one that a target or a hook's report names, although pane ids repeat on every tmux
 * server.
 */
import { systemClock } from "../../async/clock.ts";
import { setNewest } from "../../async/newest.ts";
import type { HookReport } from "../../home/control_socket.ts";
import { ASK_EVENT } from "../../home/notify_daemon.ts";
import type { Target } from "../targets.ts";
import { type InputClock, PaneInput, ToolGate } from "./pane_input.ts";

/** Panes that are kept; beyond this the least recently used one is dropped. */
export const PANES_MAX = 500;

/** What is known about a pane: some agents' hooks report no pane, and those of an older svc no socket. */
export interface PaneName {
  /** The resolved path of its tmux server's socket. */
  socket?: string | undefined;
  /** `%<n>` */
  pane?: string | undefined;
  session?: string | undefined;
}

interface KnownPane extends PaneName {
  /** Messages are typed into it. */
  isTarget: boolean;
}

/**
 * Returns the panes that the name may mean: the one with its socket and id, else that of its session, else those with
 * its id, unless both have a session.
 */
export function panesNamed<P extends KnownPane>(known: readonly P[], name: PaneName): P[] {
  const possible = known.filter((one) => mayBe(one.socket, name.socket) && mayBe(one.pane, name.pane));
  const exact = possible.filter((one) => is(one.socket, name.socket) && is(one.pane, name.pane));
  if (exact.length > 0) return exact;
  const inSession = possible.filter((one) => is(one.session, name.session));
  // Other panes of a session may have agents too.
  const own = inSession.findLast(({ isTarget }) => isTarget) ?? inSession.at(-1);
  if (own !== undefined) return [own];
  return possible.filter((one) => is(one.pane, name.pane) && mayBe(one.session, name.session));
}

function is(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one === other;
}

function mayBe(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

/** A gate, and what targets and hooks have reported about its pane so far. */
interface NamedGate extends PaneName {
  gate: ToolGate;
  /** The kind of agent whose hooks count: it may run another one in its pane, as a tool. */
  agent: string | undefined;
  isTarget: boolean;
}

type PaneTarget = Pick<Target, "socket" | "pane" | "session" | "panePid"> & {
  profile: Pick<Target["profile"], "kind">;
};

/** The inputs of all panes, found by target and by hook report. */
export class PaneInputs {
  readonly #clock: InputClock;
  readonly #panes = new Map<string, { kind: string | undefined; input: PaneInput }>();
  /** The least recently used first. */
  #gates: NamedGate[] = [];

  constructor(clock: InputClock = systemClock) {
    this.#clock = clock;
  }

  /**
   * The input of the target's pane, the same for each session that shows it: those of a group, or those that its window
   * is linked into.
   */
  of(target: PaneTarget): PaneInput {
    const key = `${target.socket}\n${target.pane}\n${target.panePid}`;
    const { kind } = target.profile;
    const known = this.#panes.get(key);
    const isKnown = known !== undefined && known.kind === kind;
    const another = (): PaneInput => new PaneInput(this.#gateOf(target), this.#clock, known?.input.turns);
    const pane = isKnown ? known : { kind, input: another() };
    setNewest(this.#panes, [key, pane], { max: PANES_MAX });
    return pane.input;
  }

  /** Resolves once the tool call that the report announces may begin. */
  async toolBegins(report: HookReport): Promise<void> {
    const gate = this.#gateOfReport(report);
    await gate?.toolBegins(report);
  }

  /** Takes any other report of a hook. One that an agent waits for its user is not from the agent's hooks. */
  hook(report: HookReport): void {
    if (report.event === ASK_EVENT) return;
    const gate = this.#gateOfReport(report);
    if (report.tool?.step === "after") gate?.toolEnded(report.tool.id);
    if (report.state === "idle") gate?.turnEnded();
  }

  /**
   * The gate of the pane that the report names. Undefined if it may name several, and then none of them counts as one
   * that holds its dialogs back; also if it is from another kind of agent than the pane's.
   */
  #gateOfReport({ socket, pane, session, gates, agent }: HookReport): ToolGate | undefined {
    if (pane === undefined && session === undefined) return undefined;
    const [named, ...others] = panesNamed(this.#gates, { socket, pane, session });
    if (named !== undefined && others.length > 0) {
      for (const { gate } of [named, ...others]) gate.forgetConfirmation();
      return undefined;
    }
    const isOther = named?.agent !== undefined && named.agent !== agent;
    if (isOther && named.isTarget) return undefined;
    const known = named ?? { gate: new ToolGate(this.#clock), agent, isTarget: false };
    if (isOther) known.gate = new ToolGate(this.#clock);
    known.agent = agent;
    known.socket ??= socket;
    known.pane ??= pane;
    known.session ??= session;
    this.#keep(known);
    if (gates === true) known.gate.confirm();
    return known.gate;
  }

  #gateOf({ socket, pane, session, profile: { kind } }: PaneTarget): ToolGate {
    const name = { socket, pane, session };
    const [named = { gate: new ToolGate(this.#clock), agent: kind }] = panesNamed(this.#gates, name);
    if (kind !== undefined && named.agent !== kind) {
      Object.assign(named, { gate: new ToolGate(this.#clock), agent: kind });
    }
    this.#keep(Object.assign(named, name, { isTarget: true }));
    return named.gate;
  }

  #keep(gate: NamedGate): void {
    this.#gates = [...this.#gates.filter((one) => one !== gate), gate].slice(-PANES_MAX);
  }
}
