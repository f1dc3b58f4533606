/** A relay, a listener and echo agents under load, into which a test injects a fault; counts the outcome of each message. */
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

/** `deno task prove faults` sends many times as many messages as the gate. */
export const IS_LONG = Deno.env.get("SVC_FAULTS") === "long";
/** A session accepts 30 messages per minute, and as many at once. */
const MESSAGES = IS_LONG ? 28 : 6;
const SESSIONS = IS_LONG ? 12 : 3;
/** How many agents are started at a time. */
const STARTS = 3;
/** How long a submitted text may take to appear in the agent's transcript. */
const ARRIVAL_LIMIT_MS = 30_000;
const SETTLE_LIMIT_MS = 240_000;

export interface RowOptions {
  fault: string;
  /** Injects the fault while messages are sent; resolves with the number of times. */
  inject(load: FaultLoad): Promise<number>;
  messages?: number;
  /** How senders reach the relay; directly by default. */
  baseUrl?: string;
  /** How the row's listener is started. */
  listener?: StartOptions;
  /** The agents were started without a wrapper: until a screen is recognized, only `typed` can be confirmed. */
  areUnwrapped?: boolean;
}

export class FaultStage implements AsyncDisposable {
  readonly stack: Stack;
  /** By session name: every agent that ran in the session, the newest last. */
  readonly sessions = new Map<string, EchoSession[]>();
  readonly canaries: string;
  #rows = 0;
  readonly #keys: { send: string; read: string };
  /** Ids of messages that were being typed when the listener was killed, according to its journal. */
  readonly #begun = new Set<string>();
  readonly #kills: AgentKill[] = [];

  private constructor(stack: Stack, keys: { send: string; read: string }) {
    this.stack = stack;
    this.#keys = keys;
    this.canaries = `${stack.sandbox.root}/ran`;
  }

  /** Makes a stage with a running listener. */
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

  /** Starts an agent in each of these projects; project `p0` gets the session `svc-p0`. */
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

  /**
   * Ends the running listener, whoever started it, and starts another, which gives every session its full rate limit
   * again.
   */
  async restartListener(options?: StartOptions): Promise<void> {
    const stopped = await this.stack.svc("listener", "--stop");
    assert.equal(stopped.code, 0, stopped.stderr);
    await this.stack.startListener(options);
  }

  /**
   * Installs an agent that does nothing. Returns a function that starts a session with it, as a user does, and ends the
   * session.
   */
  async fakeAgent(): Promise<() => Promise<Ran>> {
    const { sandbox, svc } = this.stack;
    const bin = `${sandbox.root}/bin`;
    await Deno.mkdir(bin);
    await Deno.writeTextFile(`${bin}/claude`, "#!/bin/sh\nexec sleep 3600\n", { mode: 0o755 });
    sandbox.env.PATH = `${bin}:${sandbox.env.PATH}`;
    return async () => {
      const ran = await svc("--detach", "cc");
      assert.equal(ran.code, 0, ran.stderr);
      // Another wrapper may have ended the same session.
      await sandbox.tmux("kill-session", "-t", `=${ran.stdout.trim()}`).catch(() => {});
      return ran;
    };
  }

  /** Returns a launch of svc with a helper as its runtime, such as `crashing_relay.ts`. */
  async launchWith(helper: string): Promise<Launch> {
    const path = `${this.stack.sandbox.root}/${helper}.json`;
    await Deno.writeTextFile(path, await crashingImportMap(CHECKOUT, import.meta.resolve(`./${helper}`)));
    return [...FROM_CHECKOUT.slice(0, -1), "--import-map", path, ...FROM_CHECKOUT.slice(-1)];
  }

  /** Kills the listener with SIGKILL, and notes what was being typed. */
  async killListener(): Promise<void> {
    this.stack.listener.kill("SIGKILL");
    await this.stack.listener.exited;
    await this.noteBegun();
  }

  /** Notes which messages the journal shows as being typed: only those may end as unknown. */
  async noteBegun(): Promise<void> {
    for (const id of inHandIn(lastSteps(await this.#journal()))) this.#begun.add(id);
  }

  /**
   * Runs `act`, which kills or removes the agents of these sessions: messages being typed for them may then end as
   * unknown.
   */
  async killAgents(sessions: readonly string[], act: () => Promise<unknown>): Promise<void> {
    const before = lastSteps(await this.#journal());
    await act();
    const after = lastSteps(await this.#journal());
    const begun = [...after].filter(([id, step]) => step === "done" && before.get(id) !== "done");
    const inHand = new Set([...inHandIn(before), ...inHandIn(after), ...begun.map(([id]) => id)]);
    const ended = [...before].flatMap(([id, step]) => step === "done" ? [id] : []);
    this.#kills.push({ sessions, inHand, ended });
  }

  /**
   * Returns the messages that a kill hit between `typing` and their outcome, and those that an agent may have received
   * unrecorded.
   */
  #atKills({ messages }: FaultLoad): { inHand: Set<string>; taken: Set<string> } {
    const inHand = new Set(messages.flatMap(({ id }) => this.#begun.has(id) ? [id] : []));
    const taken = new Set<string>();
    const endedBefore = new Map<string, ReadonlySet<string>>();
    for (const kill of this.#kills) {
      for (const session of kill.sessions) {
        const ofSession = messages.filter((one) => one.session === session);
        const ids = ofSession.map(({ id }) => id);
        // Nothing shows whether an agent without a recognized screen had read what was typed since the last kill.
        const ended = new Set(kill.ended);
        const fresh = ofSession.filter(({ id }) => ended.has(id) && !endedBefore.get(session)?.has(id));
        for (const { id, outcome } of fresh) if (outcome?.startsWith("typed")) inHand.add(id);
        endedBefore.set(session, ended);
        for (const id of ids) if (kill.inHand.has(id)) taken.add(id);
        // An agent takes the marker before it writes its transcript, so the listener may already have reported the text
        // as submitted.
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

  /**
   * Sends to every session while the fault is injected, and counts outcomes. Fails unless every message is accounted
   * for and none went wrong.
   */
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

  /**
   * Injects the fault at even intervals over a row's messages, each time after some more have ended, and at least once.
   */
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

  /**
   * Returns a command that creates a file if a shell runs it; odd ones have two lines, so the first ends with a line
   * break.
   */
  #body(name: string, n: number): string {
    const line = `touch ${this.canaries}/${name}.${this.#rows}.${n}`;
    return n % 2 === 0 ? line : `${line}\n${line}`;
  }

  /** Acts as a local user: opens a permission dialog now and then, and rejects it. */
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

  /** Returns the transcripts by session, without the entries from before the row. */
  async #transcripts(from: ReadonlyMap<string, number>): Promise<Map<string, TranscriptEntry[]>> {
    const read = this.names.map(async (name) =>
      [name, (await this.#transcript(name)).slice(from.get(name) ?? 0)] as const
    );
    return new Map(await Promise.all(read));
  }

  /** Waits for submitted texts, since agents write their transcripts shortly after they take the marker. */
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
    const {
      fault,
      injected,
      sent,
      submitted,
      refused,
      unknown,
      lost,
      duplicated,
      outOfOrder,
      shell,
      approved,
    } = row;
    const outcomes = load.outcomes();
    const reasons = load.messages.flatMap(({ state, outcome }) => state === "unknown" ? [outcome] : []);
    if (unknown > 0) say(`unknown in "${fault}": ${reasons.join(", ")}`);
    const isUnexplained = ({ state, id }: Message): boolean =>
      state === undefined || state === "unknown" && !inHand.has(id);
    const unexplained = await Promise.all(
      load.messages.filter(isUnexplained).map(async ({ id, outcome }) => ({
        id,
        outcome,
        receipt: await load.receiptOf(id).catch(errorText),
        trace: await this.#trace(id),
      })),
    );
    const inShell = shell === 0 ? [] : await this.#shellTraces();
    const why = JSON.stringify({ row, outcomes, unexplained, inShell });
    assert.equal(lost + duplicated + outOfOrder + shell + approved, 0, why);
    assert.equal(sent, submitted + refused + unknown, why);
    assert.ok(injected > 0 && submitted > 0, why);
    assert.deepEqual(unexplained, [], why);
  }

  /** Returns the commands that ran in a shell, and the panes' screens. */
  async #shellTraces(): Promise<string[]> {
    const ran = Array.from(Deno.readDirSync(this.canaries)).map(({ name }) => name);
    const panes = this.names.map((name) =>
      this.stack.sandbox.tmux("capture-pane", "-p", "-S", "-", "-t", `=${name}:`).catch(errorText)
    );
    return [...ran, ...await Promise.all(panes)];
  }

  /** Returns the lines about a message in the journal and the listener's log. */
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

/** Agents that a test killed or removed. */
interface AgentKill {
  sessions: readonly string[];
  /** Messages of any session between `typing` and their outcome. */
  inHand: ReadonlySet<string>;
  /** Messages of any session that had ended, in order. */
  ended: readonly string[];
}

/** Returns the last step of each message, in the order in which they were recorded. */
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
