/** A relay, a listener and echo agents under load, into which a test injects a fault; counts what became of each message. */
import assert from "node:assert/strict";
import { type FaultRow, sayRow } from "../../scripts/prove/faults_table.ts";
import { say } from "../../scripts/say.ts";
import { createRelayApi } from "../../src/client/api.ts";
import { runtime } from "#runtime";
import { errorText } from "../../src/async/error_text.ts";
import { decodeEntries, type JournalEntry } from "../../src/home/journal.ts";
import type { TranscriptEntry } from "../../src/echo/program.ts";
import { countMessages, missing } from "./fault_count.ts";
import { FaultLoad, type Message } from "./fault_load.ts";
import { crashingImportMap } from "./crashing_runtime.ts";
import { newKey } from "./new_key.ts";
import { FROM_CHECKOUT, type Launch } from "./program.ts";
import type { Ran } from "./run.ts";
import { CHECKOUT } from "./sources.ts";
import { type EchoSession, makeStack, type Stack, type StartOptions } from "./stack.ts";
import { until } from "./until.ts";

/** `deno task prove faults` sends many times as much as the gate. */
export const IS_LONG = Deno.env.get("SVC_FAULTS") === "long";
/** A session takes 30 messages a minute, and as many at once. */
const MESSAGES = IS_LONG ? 28 : 6;
const SESSIONS = IS_LONG ? 12 : 3;
/** Agents that are started at a time. */
const STARTS = 3;
/** How long a text that a receipt calls submitted may take to appear in the agent's transcript. */
const ARRIVAL_LIMIT_MS = 30_000;
const SETTLE_LIMIT_MS = 240_000;

export interface RowOptions {
  fault: string;
  /** Injects the fault while messages are sent; resolves with how often it did. */
  inject(load: FaultLoad): Promise<number>;
  messages?: number;
  /** How senders reach the relay; directly without it. */
  baseUrl?: string;
  /** How the row's listener is started. */
  listener?: StartOptions;
  /** No wrapper started the agents: until the screen of one is known, nothing confirms more than that a text was typed. */
  areUnwrapped?: boolean;
}

export class FaultStage implements AsyncDisposable {
  readonly stack: Stack;
  /** By name: every agent that ran in a session of this name, the newest last. */
  readonly sessions = new Map<string, EchoSession[]>();
  readonly canaries: string;
  #rows = 0;
  readonly #keys: { send: string; read: string };
  /** Ids whose text was being typed when the listener was killed, by its journal. */
  readonly #begun = new Set<string>();
  readonly #kills: AgentKill[] = [];

  private constructor(stack: Stack, keys: { send: string; read: string }) {
    this.stack = stack;
    this.#keys = keys;
    this.canaries = `${stack.sandbox.root}/ran`;
  }

  /** The listener is running. */
  static async make({ sessions = SESSIONS, onNats = false } = {}): Promise<FaultStage> {
    const stack = await makeStack({ onNats });
    try {
      const data = `${stack.sandbox.svcHome}/server`;
      const send = await newKey(data, ["push:read", "push:send"]);
      const read = await newKey(data, ["push:read"]);
      const stage = new FaultStage(stack, { send, read });
      await Deno.mkdir(stage.canaries);
      await stage.startAgents(Array.from({ length: sessions }, (_, n) => `p${n}`));
      return stage;
    } catch (error) {
      await stack[Symbol.asyncDispose]();
      throw error;
    }
  }

  get names(): string[] {
    return [...this.sessions.keys()];
  }

  /** Starts an agent in each of these projects; the session `svc-p0` is that of the project `p0`. */
  async startAgents(projects: readonly string[]): Promise<void> {
    const left = [...projects];
    const lane = async (): Promise<void> => {
      for (let project = left.shift(); project !== undefined; project = left.shift()) {
        const agent = await this.stack.echo(project);
        this.sessions.set(agent.name, [...this.sessions.get(agent.name) ?? [], agent]);
      }
    };
    await Promise.all(Array.from({ length: STARTS }, lane));
  }

  /** Ends the running listener, whoever started it, and starts another, whose sessions have their full rate again. */
  async restartListener(options?: StartOptions): Promise<void> {
    const stopped = await this.stack.svc("listener", "--stop");
    assert.equal(stopped.code, 0, stopped.stderr);
    await this.stack.startListener(options);
  }

  /** Installs an agent that does nothing. The result starts a session with it, as a user does, and ends that session. */
  async fakeAgent(): Promise<() => Promise<Ran>> {
    const { sandbox, svc } = this.stack;
    const bin = `${sandbox.root}/bin`;
    await Deno.mkdir(bin);
    await Deno.writeTextFile(`${bin}/claude`, "#!/bin/sh\nexec sleep 3600\n", { mode: 0o755 });
    sandbox.env.PATH = `${bin}:${sandbox.env.PATH}`;
    return async () => {
      const ran = await svc("--detach", "cc");
      assert.equal(ran.code, 0, ran.stderr);
      // Another wrapper may have got the same session.
      await sandbox.tmux("kill-session", "-t", `=${ran.stdout.trim()}`).catch(() => {});
      return ran;
    };
  }

  /** A launch of svc whose runtime is that of a helper, such as `crashing_relay.ts`. */
  async launchWith(helper: string): Promise<Launch> {
    const path = `${this.stack.sandbox.root}/${helper}.json`;
    await Deno.writeTextFile(path, await crashingImportMap(CHECKOUT, import.meta.resolve(`./${helper}`)));
    return [...FROM_CHECKOUT.slice(0, -1), "--import-map", path, ...FROM_CHECKOUT.slice(-1)];
  }

  /** kill -9, and what the journal says about it. */
  async killListener(): Promise<void> {
    this.stack.listener.kill("SIGKILL");
    await this.stack.listener.exited;
    await this.noteBegun();
  }

  /** Remembers what the journal says was being typed: only those may end as unknown. */
  async noteBegun(): Promise<void> {
    for (const id of inHandIn(lastSteps(await this.#journal()))) this.#begun.add(id);
  }

  /** Kills the agents of these sessions, or takes them away: what was being typed for them then may end as unknown. */
  async killAgents(sessions: readonly string[], act: () => Promise<unknown>): Promise<void> {
    const before = lastSteps(await this.#journal());
    await act();
    const after = lastSteps(await this.#journal());
    const begun = [...after].filter(([id, step]) => step === "done" && before.get(id) !== "done");
    const inHand = new Set([...inHandIn(before), ...inHandIn(after), ...begun.map(([id]) => id)]);
    const ended = [...before].flatMap(([id, step]) => step === "done" ? [id] : []);
    this.#kills.push({ sessions, inHand, ended });
  }

  /** The messages that a kill found between `typing` and their outcome, and those that an agent may have taken with it. */
  #atKills({ messages }: FaultLoad): { inHand: Set<string>; taken: Set<string> } {
    const inHand = new Set(messages.flatMap(({ id }) => this.#begun.has(id) ? [id] : []));
    const taken = new Set<string>();
    const endedBefore = new Map<string, ReadonlySet<string>>();
    for (const kill of this.#kills) {
      for (const session of kill.sessions) {
        const ofSession = messages.filter((one) => one.session === session);
        const ids = ofSession.map(({ id }) => id);
        // Nothing shows whether the agent of an unknown screen had read what was typed since the last kill.
        const ended = new Set(kill.ended);
        const fresh = ofSession.filter(({ id }) => ended.has(id) && !endedBefore.get(session)?.has(id));
        for (const { id, outcome } of fresh) if (outcome?.startsWith("typed")) inHand.add(id);
        endedBefore.set(session, ended);
        for (const id of ids) if (kill.inHand.has(id)) taken.add(id);
        // An agent takes the marker before it writes its transcript: the listener may have called that submitted by then.
        const last = kill.ended.findLast((id) => ids.includes(id));
        if (last !== undefined) taken.add(last);
        for (const id of ids) if (kill.inHand.has(id)) inHand.add(id);
      }
    }
    return { inHand, taken };
  }

  async #journal(): Promise<JournalEntry[]> {
    const text = await runtime.files.readText(`${this.stack.sandbox.svcHome}/journal.jsonl`) ?? "";
    return decodeEntries(text).entries;
  }

  /** Sends to every session while the fault is injected, and counts. Fails unless all is accounted for and nothing went wrong. */
  async row(
    { fault, inject, messages = MESSAGES, baseUrl, listener, areUnwrapped = false }: RowOptions,
  ): Promise<FaultRow> {
    const { stack } = this;
    this.#rows++;
    await this.restartListener(listener);
    const from = new Map([...await this.#transcripts(new Map())].map(([name, { length }]) => [name, length]));
    const load = new FaultLoad({
      api: createRelayApi({ baseUrl: baseUrl ?? stack.url, apiKey: this.#keys.send }),
      reader: createRelayApi({ baseUrl: stack.url, apiKey: this.#keys.read }),
      deviceId: stack.deviceId,
      sessions: this.names,
      messages,
      bodyOf: (name, n) => this.#body(name, n),
    });
    const local = this.#localUser(load);
    const injected = await inject(load).catch(async (error) => {
      await load.abandon();
      throw error;
    });
    await load.settle(SETTLE_LIMIT_MS);
    await local;
    const { inHand, taken } = this.#atKills(load);
    const transcripts = await this.#arrived(load, from);
    const counts = countMessages(load.messages, { transcripts, agentDied: taken });
    const shell = Array.from(Deno.readDirSync(this.canaries)).length;
    const row = { fault, injected, ...counts, inHand: inHand.size, shell };
    sayRow(row);
    for (const { id, outcome } of load.messages) if (areUnwrapped && outcome === "typed") inHand.add(id);
    await this.#check(row, load, inHand);
    return row;
  }

  /** Injects evenly over the messages of a row, each time after some more have ended, and at least once. */
  async during(
    load: FaultLoad,
    injectOnce: (n: number) => Promise<void>,
    { times = IS_LONG ? 10 : 2 } = {},
  ): Promise<number> {
    const every = Math.ceil(this.names.length * MESSAGES / (times + 2));
    let injected = 0;
    while (injected < times && (injected === 0 || !load.isDone)) {
      await load.progress(every);
      await injectOnce(injected++);
    }
    return injected;
  }

  /** A command that leaves a file behind where a shell runs it; every second one without an Enter of its own. */
  #body(name: string, n: number): string {
    const line = `touch ${this.canaries}/${name}.${this.#rows}.${n}`;
    return n % 2 === 0 ? line : `${line}\n${line}`;
  }

  /** Somebody at the computer: agents ask for permission now and then, and are answered with no. */
  async #localUser(load: FaultLoad): Promise<void> {
    for (let n = 0; !load.isDone; n++) {
      const agent = this.sessions.get(this.names[n % this.names.length] ?? "")?.at(-1);
      await agent?.control({ op: "permit" }).catch(() => {});
      await load.progress(1, { orAfterMs: 500 });
      await agent?.control({ op: "deny" }).catch(() => {});
      await load.progress(SESSIONS, { orAfterMs: 3_000 });
    }
  }

  async #transcript(name: string): Promise<TranscriptEntry[]> {
    const agents = this.sessions.get(name) ?? [];
    return (await Promise.all(agents.map((agent) => agent.entries()))).flat();
  }

  /** By session, without the entries from before the row. */
  async #transcripts(from: ReadonlyMap<string, number>): Promise<Map<string, TranscriptEntry[]>> {
    const read = this.names.map(async (name) =>
      [name, (await this.#transcript(name)).slice(from.get(name) ?? 0)] as const
    );
    return new Map(await Promise.all(read));
  }

  /** Agents write their transcripts shortly after they took the marker. */
  async #arrived(
    load: FaultLoad,
    from: ReadonlyMap<string, number>,
  ): Promise<Map<string, TranscriptEntry[]>> {
    await until("the texts that were submitted", async () => {
      return missing(load.messages, [...(await this.#transcripts(from)).values()].flat()).length === 0;
    }, ARRIVAL_LIMIT_MS).catch(() => undefined);
    return await this.#transcripts(from);
  }

  async #check(row: FaultRow, load: FaultLoad, inHand: ReadonlySet<string>): Promise<void> {
    const { fault, injected, sent, submitted, refused, unknown, lost, doubled, outOfOrder, shell, approved } =
      row;
    const outcomes = load.outcomes();
    const reasons = load.messages.flatMap(({ state, outcome }) => state === "unknown" ? [outcome] : []);
    if (unknown > 0) say(`unknown in "${fault}": ${reasons.join(", ")}`);
    const isUnexplained = ({ state, id }: Message): boolean =>
      state === undefined || state === "unknown" && !inHand.has(id);
    const unexplained = await Promise.all(
      load.messages.filter(isUnexplained).map(async ({ id, outcome }) => ({
        ...{ id, outcome },
        receipt: await load.receiptOf(id).catch(errorText),
        trace: await this.#trace(id),
      })),
    );
    const inShell = shell === 0 ? [] : await this.#shellTraces();
    const why = JSON.stringify({ row, outcomes, unexplained, inShell });
    assert.equal(lost + doubled + outOfOrder + shell + approved, 0, why);
    assert.equal(sent, submitted + refused + unknown, why);
    assert.ok(injected > 0 && submitted > 0, why);
    assert.deepEqual(unexplained, [], why);
  }

  /** What ran in a shell, and what the panes show. */
  async #shellTraces(): Promise<string[]> {
    const ran = Array.from(Deno.readDirSync(this.canaries)).map(({ name }) => name);
    const panes = this.names.map((name) =>
      this.stack.sandbox.tmux("capture-pane", "-p", "-S", "-", "-t", `=${name}:`).catch(errorText)
    );
    return [...ran, ...await Promise.all(panes)];
  }

  /** What the journal and the listener's log say about a message. */
  async #trace(id: string): Promise<string[]> {
    const { svcHome } = this.stack.sandbox;
    const texts = ["journal.jsonl", "listener.log"].map((name) =>
      runtime.files.readText(`${svcHome}/${name}`)
    );
    return (await Promise.all(texts)).flatMap((text = "") =>
      text.split("\n").filter((line) => line.includes(id))
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack[Symbol.asyncDispose]();
  }
}

/** Agents that a test killed, or took away. */
interface AgentKill {
  sessions: readonly string[];
  /** Messages of any session between `typing` and their outcome. */
  inHand: ReadonlySet<string>;
  /** Messages of any session that had ended, in that order. */
  ended: readonly string[];
}

/** The last step of each message, in the order in which they were recorded. */
function lastSteps(entries: readonly JournalEntry[]): Map<string, JournalEntry["step"]> {
  const last = new Map<string, JournalEntry["step"]>();
  for (const { id, step } of entries) {
    last.delete(id);
    last.set(id, step);
  }
  return last;
}

function inHandIn(last: ReadonlyMap<string, JournalEntry["step"]>): string[] {
  return [...last].flatMap(([id, step]) => step === "typing" || step === "typed" ? [id] : []);
}
