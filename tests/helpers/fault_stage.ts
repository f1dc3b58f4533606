/** A relay, a listener and echo agents under load, into which a test injects a fault; counts what became of each message. */
import assert from "node:assert/strict";
import { type FaultRow, sayRow } from "../../scripts/prove/faults_table.ts";
import { createRelayApi } from "../../src/client/api.ts";
import { runtime } from "#runtime";
import { decodeEntries, type JournalEntry } from "../../src/home/journal.ts";
import type { TranscriptEntry } from "../../src/echo/program.ts";
import { countMessages, missing } from "./fault_count.ts";
import { FaultLoad } from "./fault_load.ts";
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
const SESSIONS = IS_LONG ? 16 : 3;
/** Agents that are started at a time. */
const STARTS = 3;
/** How long a text that a receipt calls submitted may take to appear in the agent's transcript. */
const ARRIVAL_LIMIT_MS = 30_000;
/** A message that was checked just before the kill is still recorded as being typed: so many lines for each session. */
const NOTICE_LINES = 4;
const SETTLE_LIMIT_MS = 240_000;

export interface RowOptions {
  fault: string;
  /** Injects the fault while messages are sent; resolves with how often it did. */
  inject(load: FaultLoad): Promise<number>;
  /** Messages that were being typed when a process was killed may end as unknown, or any; without it none may. */
  mayBeUnknown?: boolean | "any";
  messages?: number;
  /** How senders reach the relay; directly without it. */
  baseUrl?: string;
  /** How the row's listener is started. */
  listener?: StartOptions;
}

export class FaultStage implements AsyncDisposable {
  readonly stack: Stack;
  /** By name: every agent that ran in a session of this name, the newest last. */
  readonly sessions = new Map<string, EchoSession[]>();
  readonly canaries: string;
  #rows = 0;
  readonly #keys: { send: string; read: string };
  /** Ids whose text was being typed when a process was killed, by the journal. */
  readonly #begun = new Set<string>();
  /** Those whose agent was killed then. */
  readonly #taken = new Set<string>();
  /** When agents were killed, until a listener must have noticed it: by the journal's lines, since clocks jump. */
  readonly #kills: { from: number; to: number; agentDies: boolean }[] = [];

  private constructor(stack: Stack, keys: { send: string; read: string }) {
    this.stack = stack;
    this.#keys = keys;
    this.canaries = `${stack.sandbox.root}/ran`;
  }

  /** The listener is running. */
  static async make({ sessions = SESSIONS }: { sessions?: number } = {}): Promise<FaultStage> {
    const stack = await makeStack();
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
    const last = new Map((await this.#journal()).map((entry) => [entry.id, entry.step]));
    for (const [id, step] of last) if (step === "typing" || step === "typed") this.#begun.add(id);
  }

  /** Kills an agent or takes it away, or the journal: what was being typed then may end as unknown. */
  async whileTyping(act: () => Promise<unknown>, { agentDies = true } = {}): Promise<void> {
    const from = (await this.#journal()).length;
    await act();
    const to = (await this.#journal()).length + NOTICE_LINES * this.names.length;
    this.#kills.push({ from, to, agentDies });
  }

  /** Remembers what was being typed when an agent was killed. */
  async #noteTaken(): Promise<void> {
    const begunAt = new Map<string, number>();
    for (const [at, { id, step }] of (await this.#journal()).entries()) {
      if (step === "typing") begunAt.set(id, at);
      const begun = begunAt.get(id) ?? Infinity;
      if (step !== "done") continue;
      for (const { from, to, agentDies } of this.#kills) {
        if (begun > to || at < from) continue;
        this.#begun.add(id);
        if (agentDies) this.#taken.add(id);
      }
    }
  }

  async #journal(): Promise<JournalEntry[]> {
    const text = await runtime.files.readText(`${this.stack.sandbox.svcHome}/journal.jsonl`) ?? "";
    return decodeEntries(text).entries;
  }

  /** Sends to every session while the fault is injected, and counts. Fails unless all is accounted for and nothing went wrong. */
  async row(
    { fault, inject, messages = MESSAGES, mayBeUnknown, baseUrl, listener }: RowOptions,
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
    await this.#noteTaken();
    const transcripts = await this.#arrived(load, from);
    const agentDied = this.#taken;
    const counts = countMessages(load.messages, { transcripts, agentDied });
    const shell = Array.from(Deno.readDirSync(this.canaries)).length;
    const row = { fault, injected, ...counts, shell };
    sayRow(row);
    const allUnknown = load.messages.map(({ id }) => id);
    this.#check(
      row,
      load,
      mayBeUnknown === "any" ? new Set(allUnknown) : mayBeUnknown ? this.#begun : new Set(),
    );
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

  #check(row: FaultRow, load: FaultLoad, mayBeUnknown: ReadonlySet<string>): void {
    const { injected, sent, submitted, refused, unknown, lost, doubled, outOfOrder, shell, approved } = row;
    const why = JSON.stringify({ row, outcomes: load.outcomes() });
    assert.equal(lost + doubled + outOfOrder + shell + approved, 0, why);
    assert.equal(sent, submitted + refused + unknown, why);
    assert.ok(injected > 0 && submitted > 0, why);
    const unexpected = load.messages.filter((one) => one.state === "unknown" && !mayBeUnknown.has(one.id));
    assert.deepEqual(unexpected, [], why);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack[Symbol.asyncDispose]();
  }
}
