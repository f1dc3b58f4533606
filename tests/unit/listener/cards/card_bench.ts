/** Cards with one paired phone, for tests: what the phone is sent, its answers, and what the agent reports. */
import assert from "node:assert/strict";
import type { DialogAnswer, DialogCall } from "../../../../src/agents/hooks.ts";
import { exportPublicKey, generateKeyPair } from "../../../../src/crypto/keys.ts";
import { importSecret, newSecret } from "../../../../src/crypto/paired_secret.ts";
import { type HostPush, openHostPush } from "../../../../src/crypto/host_push.ts";
import type { DialogReply, HookReport } from "../../../../src/home/control_socket.ts";
import { Cards, type CardsOptions } from "../../../../src/listener/cards/cards.ts";
import type { LocalView } from "../../../../src/listener/inject/pane_check.ts";
import { type Answer, askedOf, type CardData } from "../../../../src/protocol/ask.ts";
import type { Push } from "../../../../src/protocol/push.ts";
import { encodeAnswer } from "../../../../src/protocol/sealed_text.ts";
import { FakeClock } from "../../../helpers/fake_clock.ts";
import { until } from "../../../helpers/until.ts";

export const HOST = "dev_listener_a";
export const PHONE = "dev_phone_1";
export const SESSION = "svc-app";

export const QUESTION: DialogCall["dialog"] = {
  kind: "questions",
  questions: [{ text: "Which color?", options: [{ label: "Red" }, { label: "Blue" }] }],
};
export const SHELL: DialogCall["dialog"] = {
  kind: "approval",
  tool: "Bash",
  request: "npm test",
  decisions: ["once", "reject"],
};
export const BLUE: Answer = { kind: "answers", answers: [{ options: [1] }] };

/** Cards with one paired phone, whose sent pushes the test opens. */
export class Scene {
  readonly clock = new FakeClock();
  readonly sent: HostPush[] = [];
  readonly withdrawn: string[] = [];
  readonly audit: string[] = [];
  readonly logged: string[] = [];
  readonly reports: HookReport[] = [];
  localKeyAt = 0;
  hasDialog = false;
  state: LocalView["state"] = "working";
  linked = true;
  isPaired = true;
  dialog: string | undefined;
  readonly gone = new AbortController();
  readonly cards: Cards;
  readonly #phone;

  private constructor(phone: Awaited<ReturnType<typeof makePhone>>, more: Partial<CardsOptions>) {
    this.#phone = phone;
    this.cards = new Cards({
      clock: this.clock,
      keys: { deviceId: HOST, phones: () => Promise.resolve(this.isPaired ? [phone] : []) },
      policy: { approval: "once" },
      neverAllow: [],
      isMuted: () => Promise.resolve(false),
      look: (place) =>
        Promise.resolve({
          lastKeyAt: this.localKeyAt,
          hasDialog: this.hasDialog,
          state: this.state,
          place,
        }),
      isLinked: () => this.linked,
      send: (push) => Promise.resolve(this.sent.push(push)),
      openQuestions: () => Promise.resolve({ pushes: [] }),
      withdraw: (id) => void this.withdrawn.push(id),
      dialogOnScreen: () => this.dialog,
      report: (report) => void this.reports.push(report),
      log: (line) => void this.logged.push(line),
      ...more,
    });
  }

  static async make(more: Partial<CardsOptions> = {}): Promise<Scene> {
    return new Scene(await makePhone(), more);
  }

  ask(
    dialog: DialogCall["dialog"],
    { isShown = true, report = {} }: { isShown?: boolean; report?: Partial<HookReport> } = {},
  ): Promise<DialogReply | undefined> {
    const about = { event: "PermissionRequest", agent: "cc", cwd: "/work/app", session: SESSION, ...report };
    return this.cards.ask(about, { dialog, isShown, gone: this.gone.signal });
  }

  /** Resolves with the card that the phone reads, once it was sent. */
  async card(place = 0): Promise<{ id: string; card: CardData; body: string | undefined }> {
    const push = await until("the card", () => this.sent[place]);
    const { keyPair, secret } = this.#phone;
    const stored = { ...push, from: HOST, createdAt: 0, expiresAt: 0 } as Push;
    const opened = await openHostPush(stored, { phone: PHONE, keyPair, secret });
    const card = opened && askedOf(opened);
    assert.ok(opened && card && (card.kind === "questions" || card.kind === "approval"));
    return { id: push.id, card, body: opened.body };
  }

  /** Sends an answer; resolves with its outcome, without what the audit log gets. */
  async answer(question: string, answer: Answer, more: Partial<Push> = {}): ReturnType<Cards["answer"]> {
    const push = {
      id: crypto.randomUUID(),
      type: "ask.answer",
      from: PHONE,
      inReplyTo: question,
      body: encodeAnswer(question, answer),
      sealed: { mode: "psk", enc: "", ciphertext: "" },
      createdAt: 0,
      expiresAt: 0,
      ...more,
    } satisfies Push;
    const { about, ...outcome } = await this.cards.answer(push);
    if (about !== undefined) this.audit.push(about);
    return outcome;
  }

  /** Returns the session in which an answer to this question is placed. */
  sessionOf(question: string): string | undefined {
    const push = { id: "", type: "ask.answer", from: PHONE, inReplyTo: question, createdAt: 0, expiresAt: 0 };
    return this.cards.placed({ ...push, agentSessionName: "svc-forged" }).agentSessionName;
  }

  /** Sends a report of the same agent. */
  hook(report: Partial<HookReport>): void {
    this.cards.hook({ event: "X", agent: "cc", cwd: "/work/app", session: SESSION, ...report });
  }

  /** Advances the clock until the work has ended. */
  async ended<T>(work: Promise<T>, stepMs = 500): Promise<T> {
    let result: { value: T } | undefined;
    void work.then((value) => result = { value });
    const { value } = await until("the end", () => {
      this.clock.advance(stepMs);
      return result;
    });
    return value;
  }
}

async function makePhone() {
  const keyPair = await generateKeyPair();
  const secret = await importSecret(newSecret()) ?? assert.fail("no secret");
  return { deviceId: PHONE, keyPair, secret, publicKey: await exportPublicKey(keyPair.publicKey) };
}

export const answerOf = (reply: DialogReply | undefined): DialogAnswer | undefined => reply?.answer;
