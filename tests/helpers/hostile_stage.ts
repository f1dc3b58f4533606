/** Host and phones whose only way to each other is a hostile relay, in one mode of sealing. */
import assert from "node:assert/strict";
import type { Clock } from "../../src/async/clock.ts";
import { FakePairingStorage } from "../unit/phone/fake_pairing_storage.ts";
import { FakeStorage } from "../unit/phone/fake_storage.ts";
import { type Attack, HostileRelay } from "./hostile_relay.ts";
import { runSvc } from "./program.ts";
import { PagePhone, type Watched } from "./page_phone.ts";
import { type EchoSession, makeStack, type Stack } from "./stack.ts";
import { until } from "./until.ts";

/** `psk`: phones are paired, and the host takes nothing less. `base`: none is, and it takes nothing plain. */
export type Mode = "psk" | "base";

/** Stands in everything that the relay makes up: it must be nowhere that a person or an agent looks. */
export const EVIL = "made-up-by-the-relay";

/** `reported`: the attack's only effect is a warning. `gap`: it succeeds, as docs/security.md says. */
export interface Expectation {
  outcome?: "reported" | "no effect" | "gap";
  /** What the phone says. */
  phone?: RegExp;
  /** What the host says. */
  host?: RegExp;
  /** Where what the relay made up shows. */
  typed?: boolean;
  shown?: boolean;
}

export interface Row {
  name: string;
  /** A mode that is left out has nothing to be attacked in this way. */
  expect: Partial<Record<Mode, Expectation>>;
  run(stage: HostileStage): Promise<Attacked>;
}

/** An attack under way. */
export interface Attacked extends Disposable {
  /** What the phone says now. */
  words(): string;
  /** All that the phone shows of a session. */
  shown(): string;
  /** What the host says; the listener's log without it. */
  host?(): string;
}

export function attacked(phone: PagePhone, ...watched: Watched[]): Attacked {
  return {
    words: () => watched[0]?.words() ?? "",
    shown: () => watched.map((one) => one.text()).join("\n"),
    [Symbol.dispose]: () => phone[Symbol.dispose](),
  };
}

export class HostileStage implements AsyncDisposable {
  readonly #kept = { storage: new FakeStorage(), pairing: new FakePairingStorage() };
  /** What was typed and sent honestly: each must arrive once at most. */
  readonly texts: string[] = [];
  /** As the relay learned it when a pairing was offered. */
  hostKey = "";
  /** Of listeners before this one. */
  #loggedBefore = "";

  private constructor(
    readonly mode: Mode,
    readonly stack: Stack,
    readonly relay: HostileRelay,
    readonly session: EchoSession,
    /** Of another project. */
    readonly other: Pick<EchoSession, "name" | "screen">,
  ) {}

  static async make(mode: Mode): Promise<HostileStage> {
    const stack = await makeStack({ listener: false });
    const relay = await HostileRelay.start(stack.url);
    try {
      const path = `${stack.sandbox.svcHome}/config.json`;
      const config = { apiKey: stack.apiKey, wsUrl: relay.wsUrl, requireEncryption: mode };
      await Deno.writeTextFile(path, JSON.stringify(config), { mode: 0o600 });
      await stack.startListener();
      const stage = new HostileStage(mode, stack, relay, await stack.echo(), await otherEcho(stack));
      await stage.#firstPhone();
      return stage;
    } catch (error) {
      await stack[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The phone of the stage, its page opened anew; nothing is attacked until it is live. */
  async phone(clock?: Clock): Promise<PagePhone> {
    const { storage, pairing } = this.#kept;
    const parts = { storage: new FakeStorage(storage.account), pairing, ...(clock ? { clock } : {}) };
    const phone = new PagePhone({ baseUrl: this.relay.url, ...parts });
    await phone.open();
    await phone.lists(this.session.name);
    await phone.lists(this.other.name);
    return phone;
  }

  /** The same, with the session's terminal open and drawn. */
  async watching(clock?: Clock): Promise<{ phone: PagePhone; watched: Watched } & Disposable> {
    const phone = await this.phone(clock);
    const watched = phone.watch(this.session.name);
    await watched.live();
    return { phone, watched, [Symbol.dispose]: () => phone[Symbol.dispose]() };
  }

  async paired(name: string): Promise<PagePhone> {
    const phone = new PagePhone({ baseUrl: this.relay.url, name });
    await phone.open(await this.stack.pairLink());
    await phone.controller.confirmPairing();
    return phone;
  }

  attack(attack: Attack): void {
    this.relay.attack = attack;
  }

  /** A text that no other attack has. */
  text(): string {
    const text = `mine-${this.mode}-${this.texts.length}.`;
    this.texts.push(text);
    return text;
  }

  async screen(): Promise<string> {
    return await this.session.screen() + await this.other.screen();
  }

  /** Something new on the screen, by the desk. */
  async draw(text: string): Promise<void> {
    await this.stack.sandbox.tmux("send-keys", "-l", "-t", `=${this.session.name}:`, text);
  }

  /** Takes away what was typed and not sent. */
  async clearLine(): Promise<void> {
    for (const { name, screen } of [this.session, this.other]) {
      await this.stack.sandbox.tmux("send-keys", "-t", `=${name}:`, "C-u");
      await until("an empty line", async () => /❯ *$/m.test(await screen()));
    }
  }

  /** What the host logged since `from`. */
  log(from: number): string {
    return (this.#loggedBefore + this.stack.listener.output()).slice(from);
  }

  get logged(): number {
    return this.log(0).length;
  }

  async restartHost(): Promise<void> {
    const { listener } = this.stack;
    await this.stack.restartListener();
    this.#loggedBefore += listener.output();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack[Symbol.asyncDispose]();
    await this.relay[Symbol.asyncDispose]();
  }

  async #firstPhone(): Promise<void> {
    const { storage, pairing } = this.#kept;
    this.attack({
      call: ({ path, body }) => {
        if (path === "/pairings") this.hostKey = (body as { offer: { publicKey: string } }).offer.publicKey;
        return { body };
      },
    });
    const link = await this.stack.pairLink();
    if (this.mode === "base") return await storage.writeAccount({ apiKey: this.stack.apiKey });
    using first = new PagePhone({ baseUrl: this.relay.url, storage, pairing });
    await first.open(link);
    await first.controller.confirmPairing();
    await first.lists(this.session.name);
  }
}

async function otherEcho({ sandbox }: Stack): Promise<Pick<EchoSession, "name" | "screen">> {
  const cwd = `${sandbox.root}/other`;
  await Deno.mkdir(cwd);
  const { code, stdout, stderr } = await runSvc(sandbox, ["--detach", "echo"], { cwd });
  assert.equal(code, 0, stderr);
  const name = stdout.trim();
  const screen = (): Promise<string> => sandbox.screen(name);
  await until("the other agent's input line", async () => /^❯/mu.test(await screen()));
  return { name, screen };
}
