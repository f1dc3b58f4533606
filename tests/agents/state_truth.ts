/** Runs a real agent through turns, dialogs, interrupts and questions, and compares the states that phones see with the true ones. */
import { RelayError } from "../../src/client/relay_error.ts";
import type { AgentState } from "../../src/protocol/session.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import type { RealAgent } from "./install.ts";
import { sendMessage, untilTold } from "./phone.ts";
import { runAgent, type SvcAgent } from "./run_agent.ts";

/** A state with its start, in milliseconds. */
export interface StateAt {
  state: AgentState;
  at: number;
}

export interface StateFigures {
  /** Changes of the true state. */
  changes: number;
  /** States that lasted for at least `RIGHT_MS` and never appeared in the list. */
  missed: number;
  /** Time from each change to the list that shows it, in milliseconds, sorted. */
  delays: number[];
  /** Each period in which the list showed a wrong state, in milliseconds, including the delays. */
  wrong: { ms: number; truth: AgentState; shown: AgentState; at: number }[];
}

/** A change must show in the list within this time, in milliseconds. */
const RIGHT_MS = 2_000;
/** Wrong for longer than this counts as stuck, in milliseconds. */
export const STUCK_MS = 10_000;

/** Compares the two lists, both in order; `end` is the end of the last state of each. */
export function compareStates(
  truth: readonly StateAt[],
  seen: readonly StateAt[],
  end: number,
): StateFigures {
  const figures: StateFigures = { changes: truth.length, missed: 0, delays: [], wrong: [] };
  for (const [index, { state, at }] of truth.entries()) {
    const until = truth[index + 1]?.at ?? end;
    const shown = within(seen, { from: at, until });
    const right = shown.find((one) => one.state === state);
    if (right !== undefined) figures.delays.push(right.at - at);
    else if (until - at >= RIGHT_MS) figures.missed++;
    for (const [place, one] of shown.entries()) {
      const ms = (shown[place + 1]?.at ?? until) - one.at;
      if (one.state !== state) figures.wrong.push({ ms, truth: state, shown: one.state, at: one.at });
    }
  }
  figures.delays.sort((one, other) => one - other);
  return figures;
}

/** Returns the states shown in this period, including the one at its start. */
function within(seen: readonly StateAt[], { from, until }: { from: number; until: number }): StateAt[] {
  const before = seen.findLast(({ at }) => at <= from);
  const after = seen.filter(({ at }) => at > from && at < until);
  return before === undefined ? after : [{ ...before, at: from }, ...after];
}

/** Formats the figures as one line. */
export function describeFigures(kind: string, { changes, missed, delays, wrong }: StateFigures): string {
  const at = (part: number): number => Math.round(delays[Math.floor((delays.length - 1) * part)] ?? NaN);
  const late = delays.filter((ms) => ms > RIGHT_MS).length;
  const stuck = wrong.filter(({ ms }) => ms > STUCK_MS).length;
  return `${kind}: ${changes} changes, delay median ${at(0.5)} ms, worst ${at(1)} ms, ` +
    `${late} later than 2 s, ${missed} missed, ${stuck} wrong for more than 10 s`;
}

const LOOK_MS = 150;
/** How long the script keeps a state, so that the list can show it. */
const KEEP_MS = 4_000;

/** Records the states that the list shows for one session, until it is disposed of. */
class Recorder implements AsyncDisposable {
  readonly seen: StateAt[] = [];
  #ended = false;
  readonly #running: Promise<void>;

  constructor(stack: Stack, session: string) {
    this.#running = this.#run(stack, session);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    await this.#running;
  }

  async #run({ api }: Stack, session: string): Promise<void> {
    while (!this.#ended) {
      try {
        const { devices } = await api.sessions();
        const found = devices.flatMap(({ sessions }) => sessions).find(({ name }) => name === session);
        if (found !== undefined && found.state !== this.seen.at(-1)?.state) {
          this.seen.push({ state: found.state, at: Date.now() });
        }
      } catch (error) {
        if (!(error instanceof RelayError) || !error.transient) throw error;
      }
      await passed(LOOK_MS);
    }
  }
}

/** Waits for a fixed time: the script keeps each state for a while, and no condition marks its end. */
function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** If a busy agent still works after this time, it has lost the Esc. */
const ESCAPE_WORKS_MS = 10_000;

/** Agents in which the first Esc only asks for a second one. */
const SECOND_ESC: readonly RealAgent[] = ["opencode", "copilot"];

class Script {
  readonly truth: StateAt[] = [];
  readonly #stack: Stack;
  readonly #agent: SvcAgent;
  #turns = 0;

  constructor(stack: Stack, agent: SvcAgent) {
    this.#stack = stack;
    this.#agent = agent;
  }

  /** Runs a turn, started at the keyboard or by a message. */
  async turn(from: "keyboard" | "phone" = "keyboard"): Promise<void> {
    const answer = this.#agent.standIn.hold();
    await this.#begin(from);
    await this.#keep();
    answer();
    await this.#end();
  }

  async approvedDialog(): Promise<void> {
    const { standIn, pane } = this.#agent;
    standIn.callShell(`touch made-${this.#turns}`);
    await this.#begin();
    await this.#untilDialog();
    const answer = standIn.hold();
    await pane.press("Enter");
    this.#is("working");
    await this.#keep();
    answer();
    await this.#end();
  }

  async refusedDialog(): Promise<void> {
    this.#agent.standIn.callShell(`touch refused-${this.#turns}`);
    await this.#begin();
    await this.#untilDialog();
    await this.#agent.pane.press("Escape");
    await this.#end();
  }

  async interrupt(): Promise<void> {
    const answer = this.#agent.standIn.hold();
    await this.#begin();
    await this.#keep();
    await this.#escape();
    answer();
    await this.#end();
  }

  /** Runs a question that is answered, or cancelled with Esc. */
  async question(how: "answered" | "interrupted"): Promise<void> {
    const { standIn } = this.#agent;
    const question = `What next, number ${++this.#turns}?`;
    standIn.callTool("svc_ask", { question });
    await this.#begin();
    const { id } = await untilTold(() => `the question "${question}"`, async () => {
      const { pushes } = await this.#stack.api.listPushes({ before: "end" });
      return pushes.map(({ push }) => push).find(({ body }) => body === question);
    });
    this.#is("waiting");
    await this.#keep();
    const answer = standIn.hold();
    if (how === "answered") {
      await this.#stack.api.sendPush({ type: "ask.answer", inReplyTo: id, body: "go on" });
      this.#is("working");
      await this.#keep();
    } else await this.#escape();
    answer();
    await this.#end();
  }

  async #begin(from: "keyboard" | "phone" = "keyboard"): Promise<void> {
    const { pane, session, standIn } = this.#agent;
    const text = `turn ${++this.#turns} of the script`;
    const requests = standIn.bodies().length;
    if (from === "phone") await sendMessage(this.#stack, session, text);
    else {
      await pane.paste(text);
      await until("the draft", async () => (await this.#agent.reading()).draft?.includes(text));
      await pane.quiet();
      await pane.press("Enter");
    }
    await until("a request to the model", () => standIn.bodies().length > requests);
    this.#is("working");
  }

  async #untilDialog(): Promise<void> {
    await until("the dialog", async () => (await this.#agent.reading()).focus === "dialog");
    this.#is("waiting");
    await this.#keep();
  }

  /** Presses Esc until the turn has ended. */
  async #escape(): Promise<void> {
    const { pane, kind } = this.#agent;
    await until("Esc to end the turn", async () => {
      await pane.press("Escape");
      if (SECOND_ESC.includes(kind)) {
        await passed(300);
        await pane.press("Escape");
      }
      return await until("its end", () => this.#isIdle(), ESCAPE_WORKS_MS).catch(() => false);
    });
  }

  async #isIdle(): Promise<boolean> {
    return (await this.#agent.reading()).state === "idle";
  }

  /** Clears the input line, since some agents put an interrupted prompt back. */
  async #end(): Promise<void> {
    const { pane } = this.#agent;
    await until("the end of the turn", () => this.#isIdle());
    this.#is("idle");
    await this.#keep();
    await until("an empty input line", async () => {
      if ((await this.#agent.reading()).draft === "") return true;
      await pane.press("C-u");
      await pane.quiet();
      return false;
    });
  }

  #is(state: AgentState): void {
    if (this.truth.at(-1)?.state !== state) this.truth.push({ state, at: Date.now() });
  }

  #keep(): Promise<void> {
    return passed(KEEP_MS);
  }
}

/** The steps of a round, in order; one round takes about 100 seconds. */
const ROUND: readonly ((script: Script) => Promise<void>)[] = [
  (script) => script.turn(),
  (script) => script.approvedDialog(),
  (script) => script.interrupt(),
  (script) => script.question("answered"),
  (script) => script.refusedDialog(),
  (script) => script.turn("phone"),
  (script) => script.question("interrupted"),
];

export interface TruthOptions {
  /** The script begins no new step after this time. */
  minutes: number;
  say(line: string): void;
}

export async function runStateTruth(kind: RealAgent, { minutes, say }: TruthOptions): Promise<StateFigures> {
  await using stack = await makeStack();
  await using agent = await runAgent(kind, stack);
  const script = new Script(stack, agent);
  await using recorder = new Recorder(stack, agent.session);
  const end = Date.now() + minutes * 60_000;
  // svc's tools are available from the second turn on.
  await script.turn();
  for (let step = 0; Date.now() < end; step++) await ROUND[step % ROUND.length]?.(script);
  await recorder[Symbol.asyncDispose]();
  const figures = compareStates(script.truth, recorder.seen, Date.now());
  say(describeFigures(kind, figures));
  const start = script.truth[0]?.at ?? 0;
  for (const { ms, truth, shown, at } of figures.wrong.filter((one) => one.ms > 1_000)) {
    say(`  ${kind}: at ${at - start} ms "${shown}" in place of "${truth}" for ${ms} ms`);
  }
  return figures;
}
