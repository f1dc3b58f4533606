/** A host and phones that reach each other only through a hostile relay, in one encryption mode. */
import assert from "node:assert/strict";
import type { Clock } from "../../src/async/clock.ts";
import { FakePairingStorage } from "../unit/phone/fake_pairing_storage.ts";
import { FakeStorage } from "../unit/phone/fake_storage.ts";
import { type Attack, HostileRelay } from "./hostile_relay.ts";
import { runSvc } from "./program.ts";
import { PagePhone, type Watched } from "./page_phone.ts";
import { type EchoSession, makeStack, type Stack } from "./stack.ts";
import { until } from "./until.ts";

/**
 * `psk`: phones are paired, and the host accepts nothing weaker. `base`: no phone is paired, and the host accepts
 * nothing plain.
 */
export type Mode = "psk" | "base";

/** Marks everything that the relay makes up: it must never reach a user or an agent. */
export const EVIL = "made-up-by-the-relay";

/** `reported`: the attack's only effect is a warning. `gap`: it succeeds, as docs/security.md says. */
export interface Expectation {
  outcome?: "reported" | "no effect" | "gap";
  /** Text that the phone must show. */
  phone?: RegExp;
  /** Text that the host must print. */
  host?: RegExp;
  /** Whether the made-up text is typed on the host, or shown on the phone. */
  typed?: boolean;
  shown?: boolean;
}

export interface Row {
  name: string;
  /** The attack does not apply to a missing mode. */
  expect: Partial<Record<Mode, Expectation>>;
  run(stage: HostileStage): Promise<Attacked>;
}

/** An attack in progress. */
export interface Attacked extends Disposable {
  /** Returns the phone's current status text. */
  words(): string;
  /** Returns everything that the phone shows of a session. */
  shown(): string;
  /** Returns the host's output; default: the listener's log. */
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
  /** The user's texts, each of which must arrive at most once. */
  readonly texts: string[] = [];
  /** The host's public key, as the relay learned it from the offer of a pairing. */
  hostKey = "";
  /** The logs of earlier listeners. */
  #loggedBefore = "";

  private constructor(
    readonly mode: Mode,
    readonly stack: Stack,
    readonly relay: HostileRelay,
    readonly session: EchoSession,
    /** A session of another project. */
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

  /** Reopens the page of the stage's phone, and waits until it is live. */
  async phone(clock?: Clock): Promise<PagePhone> {
    const { storage, pairing } = this.#kept;
    const parts = { storage: new FakeStorage(storage.account), pairing, ...(clock ? { clock } : {}) };
    const phone = new PagePhone({ baseUrl: this.relay.url, ...parts });
    await phone.open();
    await phone.lists(this.session.name);
    await phone.lists(this.other.name);
    return phone;
  }

  /** Like `phone`, with the session's terminal open and drawn. */
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

  /** Returns a text that no other attack uses. */
  text(): string {
    const text = `mine-${this.mode}-${this.texts.length}.`;
    this.texts.push(text);
    return text;
  }

  async screen(): Promise<string> {
    return await this.session.screen() + await this.other.screen();
  }

  /** Returns the screens with their scrollback. */
  async scrollback(): Promise<string> {
    const { sandbox } = this.stack;
    const [own, other] = [this.session, this.other].map(({ name }) =>
      sandbox.tmux("capture-pane", "-p", "-S", "-", "-t", `=${name}:`)
    );
    return `${await own}${await other}`;
  }

  /** Types as the local user, to change the screen. */
  async draw(text: string): Promise<void> {
    await this.stack.sandbox.tmux("send-keys", "-l", "-t", `=${this.session.name}:`, text);
  }

  /** Clears the text that was typed but not submitted. */
  async clearLine(): Promise<void> {
    for (const { name, screen } of [this.session, this.other]) {
      const clear = () => this.stack.sandbox.tmux("send-keys", "-t", `=${name}:`, "C-u");
      await clear();
      await until("an empty line", async () => {
        if (/❯ *$/m.test(await screen())) return true;
        // A key of the phone may have arrived late.
        await clear();
        return false;
      });
    }
  }

  /** Returns what the host has logged since `from`. */
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
