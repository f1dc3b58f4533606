/** A relay that replays, reorders, drops, resends, floods and restores backups, against the real intake and journal. */
import assert from "node:assert/strict";
import { say } from "../../../scripts/say.ts";
import { type Journal, openJournal, type PhoneSeal } from "../../../src/home/journal.ts";
import type { Outcome } from "../../../src/listener/inject/context.ts";
import type { Acknowledgement } from "../../../src/listener/acknowledger.ts";
import { PushIntake } from "../../../src/listener/pushes.ts";
import { SessionQueues } from "../../../src/listener/waiting_pushes.ts";
import type { Push } from "../../../src/protocol/push.ts";
import type { FileInfo, Files } from "../../../src/runtime/types.ts";
import { randomNumbers } from "../../helpers/random_numbers.ts";
import { PLAIN_STEPS } from "./push_bench.ts";

const PUSHES = Number(Deno.env.get("SVC_REPLAY_PUSHES") ?? 20_000);
const PHONES = 3;
const SESSIONS = 5;
/** Few, so that lists of ids alone would drop most of the pushes; more than can be open at a time. */
const REMEMBERED = 3_000;
/** The most messages that the relay leaves undelivered; it chooses their order. */
const HELD_BACK_MAX = 900;

interface Message {
  push: Push;
  seal: PhoneSeal;
  typed: number;
  /** Whether it has a final answer with the host's lasting proof. */
  closed: boolean;
  /** The last final answer. */
  end?: Acknowledgement;
}

/** One file in memory: what was appended and synced is what a restart finds. Writes of a dead process are lost. */
function memoryFiles(disk: { text: string }, { isAlive }: { isAlive(): boolean }): Files {
  const write = (text: string): Promise<void> => {
    if (isAlive()) disk.text = text;
    return Promise.resolve();
  };
  const files: Pick<Files, "readText" | "replaceText" | "openAppend" | "info"> = {
    readText: () => Promise.resolve(disk.text),
    replaceText: (_path, text) => write(text),
    info: () => Promise.resolve({} as FileInfo),
    openAppend: () =>
      Promise.resolve({
        append: (text) => write(disk.text + text),
        sync: () => Promise.resolve(),
        sizeInPlace: () => Promise.resolve(Infinity),
        close: () => {},
      }),
  };
  return files as Files;
}

class World {
  readonly messages: Message[] = [];
  readonly #byId = new Map<string, Message>();
  readonly #random = randomNumbers(20_261_121);
  readonly #disk = { text: "" };
  readonly #counters: number[] = Array(PHONES).fill(0);
  /** What the relay never delivered; its backups are earlier states of this. */
  #waiting: Message[] = [];
  #backup: Message[] = [];
  #journal!: Journal;
  #intake!: PushIntake;
  #queues!: SessionQueues;
  /** The number of the host's process: what an older one still does has no effect. */
  #life = 0;
  /** Whether the host has come back after a crash but not sent hello yet. */
  #isDown = false;
  #now = 1_800_000_000_000;
  /** Forbidden events that happened. */
  readonly violations: string[] = [];
  readonly counts = { restarts: 0, backups: 0, replays: 0, forged: 0, crashes: 0 };

  async boot(): Promise<void> {
    const life = ++this.#life;
    const queues = new SessionQueues();
    const journal = await openJournal({
      files: memoryFiles(this.#disk, { isAlive: () => life === this.#life }),
      path: "journal",
      now: () => this.#now,
      pushesMax: REMEMBERED,
      promisesMax: REMEMBERED,
    });
    // The process ended while it started.
    if (life !== this.#life) return;
    [this.#journal, this.#queues] = [journal, queues];
    this.#intake = new PushIntake({
      journal,
      queues,
      ...PLAIN_STEPS,
      inject: ({ id }) => this.#inject(id, life),
      inTurn: { "agent.start": () => Promise.resolve({ state: "refused", reason: "start_not_allowed" }) },
      acknowledge: (ack) => life === this.#life && this.#heard(ack),
      log: () => {},
      now: () => this.#now,
      toLocalTime: (ms) => ms,
      floor: () => Promise.resolve("psk"),
      unseal: (push) => {
        const message = this.#byId.get(push.id);
        const isAuthentic = message !== undefined && push.body === undefined;
        if (!isAuthentic) return Promise.resolve({ found: { state: "refused", reason: "unsealable" } });
        return Promise.resolve({ found: { ...push, body: "text" }, seal: message.seal });
      },
    });
  }

  /** Makes the phone write a message; now and then a restart of its page costs it some numbers. */
  write(): void {
    const phone = this.#pick(PHONES);
    const counter = (this.#counters[phone] ?? 0) + 1 + (this.#random() < 0.01 ? this.#pick(20) : 0);
    this.#counters[phone] = counter;
    const id = `00000000-0000-4000-8000-${String(this.messages.length).padStart(12, "0")}`;
    const push: Push = {
      id,
      type: "agent.command",
      agentSessionName: `svc-${this.#pick(SESSIONS)}`,
      sealed: { mode: "psk", enc: "", ciphertext: "" },
      from: `dev_phone_${phone}`,
      createdAt: this.#now,
      expiresAt: this.#now + 86_400_000,
    };
    const message = { push, seal: { pairing: `pairing-${phone}`, counter }, typed: 0, closed: false };
    this.messages.push(message);
    this.#byId.set(id, message);
    this.#waiting.push(message);
  }

  async relay(): Promise<void> {
    const chance = this.#random();
    if (chance < 0.15) await this.#replay();
    else if (chance < 0.2) await this.#forge();
    else if (chance < 0.2005) await this.#restart();
    else if (this.#isDown) await this.#reconnected();
    else if (chance < 0.2007) this.#restore();
    else if (chance < 0.2012) this.#backup = [...this.#waiting];
    while (this.#waiting.length > HELD_BACK_MAX || this.#random() < 0.5) {
      if (this.#waiting.length === 0) break;
      await this.#deliver(this.#pick(Math.min(this.#waiting.length, 300)));
    }
  }

  async end(): Promise<void> {
    while (this.#waiting.length > 0) await this.#deliver(0);
    await this.#queues.idle();
    // A crash left some open, which the relay resends as an honest one does.
    for (const message of this.messages) if (message.end === undefined) await this.#send(message.push);
    await this.#queues.idle();
  }

  async flood(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await this.#forge();
  }

  async replayAll(): Promise<void> {
    for (const { push } of this.messages) await this.#send(push);
    await this.#queues.idle();
  }

  async #deliver(place: number): Promise<void> {
    const [message] = this.#waiting.splice(place, 1);
    if (message !== undefined) await this.#send(message.push);
  }

  async #replay(): Promise<void> {
    this.counts.replays += 1;
    const message = this.messages[this.#pick(this.messages.length)];
    if (message !== undefined && !this.#waiting.includes(message)) await this.#send(message.push);
  }

  /** Sends a push that the relay made up in a phone's name, under a new id. */
  async #forge(): Promise<void> {
    const n = this.counts.forged++;
    const [message] = this.messages;
    if (message === undefined) return;
    const id = `00000000-0000-4000-9000-${String(n).padStart(12, "0")}`;
    await this.#send({ ...message.push, id, body: "forged" });
  }

  async #restart(): Promise<void> {
    this.counts.restarts += 1;
    await this.boot();
    await this.#reconnected();
  }

  /** After a hello the relay sends what it has delivered and has no final answer for. */
  async #reconnected(): Promise<void> {
    this.#isDown = false;
    const open = this.messages.slice(-10_000).filter((one) =>
      one.end === undefined && !this.#waiting.includes(one)
    );
    for (const message of open) await this.#send(message.push);
  }

  /** Marks everything in the backup as undelivered again. */
  #restore(): void {
    this.counts.backups += 1;
    this.#waiting = [...new Set([...this.#backup, ...this.#waiting])];
  }

  async #send(push: Push): Promise<void> {
    this.#now += 1;
    await this.#intake.receive(push);
  }

  async #inject(id: string, life: number): Promise<Outcome> {
    const message = this.#byId.get(id);
    assert.ok(message);
    const chance = this.#random();
    if (chance < 0.2) return { state: "refused", reason: "muted" };
    await this.#journal.record(id, { step: "typing" });
    if (life !== this.#life) return await new Promise(() => {});
    // An error thrown here would only end the push, so it is recorded.
    if (message.closed) this.violations.push(`typed after it was closed: ${id}`);
    message.typed += 1;
    if (message.typed > 1) this.violations.push(`typed twice: ${id}`);
    if (chance < 0.201) {
      // The process dies here: nothing that it still does counts.
      this.counts.crashes += 1;
      await this.boot();
      this.#isDown = true;
      return await new Promise(() => {});
    }
    await this.#journal.record(id, { step: "typed" });
    return { state: "submitted" };
  }

  #heard(ack: Acknowledgement): void {
    const message = this.#byId.get(ack.id);
    if (message === undefined || !ack.final) return;
    message.end ??= ack;
    message.closed ||= this.#journal.isLasting(ack.id);
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

Deno.test("over thousands of pushes no relay can get a sealed message typed twice or after its end, and no valid message is refused [replay-window, sec-replay]", async () => {
  const world = new World();
  await world.boot();
  for (let n = 0; n < PUSHES; n++) {
    world.write();
    await world.relay();
  }
  await world.end();
  await world.flood(3 * REMEMBERED);
  await world.replayAll();
  const { messages, counts, violations } = world;
  assert.deepEqual(violations.slice(0, 5), []);
  const refused = messages.filter(({ end }) => end?.outcome === "refused" && end.reason !== "muted");
  assert.deepEqual(refused.map(({ end }) => end), [], "a good message was refused");
  assert.deepEqual(
    messages.filter(({ end }) => end === undefined),
    [],
    "a good message was left without an answer",
  );
  const wrong = messages.filter(({ end, typed }) => {
    if (end?.outcome === "submitted") return typed !== 1;
    return end?.outcome === "refused" && typed !== 0;
  });
  assert.deepEqual(wrong.map(({ end, typed }) => ({ end, typed })), [], "an answer was wrong");
  say(
    `${messages.length} sealed messages, ${
      counts.replays + messages.length
    } repetitions, ${counts.forged} forgeries, ` +
      `${counts.restarts + counts.crashes} restarts, ${counts.backups} backups restored: ` +
      `${violations.length} typed twice or after they were closed, ${refused.length} good ones refused`,
  );
});
