/** A hostile phone and a hostile relay that alter, swap and repeat the answers to cards, in every order. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { askedOf, type Decision } from "../../src/protocol/ask.ts";
import { lateAnswerId } from "../../src/protocol/late_answer.ts";
import type { Push } from "../../src/protocol/push.ts";
import { HostileRelay, WAYS } from "../helpers/hostile_relay.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { WaitingHook } from "../helpers/waiting_hook.ts";

interface Scene {
  stack: Stack;
  relay: HostileRelay;
  phone: ScriptedPhone;
  session: string;
  /** Resolves with the prompts that the agent received. */
  prompts: EchoSession["prompts"];
}

async function withScene(
  config: Record<string, unknown>,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  await using stack = await makeStack({ listener: false });
  await using relay = await HostileRelay.start(stack.url);
  const path = `${stack.sandbox.svcHome}/config.json`;
  const given = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...given, ...config, wsUrl: relay.wsUrl }));
  await stack.startListener();
  const phone = await pairScriptedPhone(await stack.pairLink(), { baseUrl: stack.url });
  const { name: session, prompts } = await stack.echo();
  await test({ stack, relay, phone, session, prompts });
}

/** How often a dialog may open at the computer because the host or the relay is too busy for a card. */
const BUSY_TIMES = 10;

/** Starts a waiting hook; resolves with it and its card. */
async function asked(scene: Scene, command: string): Promise<{ hook: WaitingHook; card: Push }> {
  for (let times = 0; times < BUSY_TIMES; times++) {
    const hook = await WaitingHook.start(scene.stack, scene.session, command);
    let isOver = false;
    void hook.answer.then(() => isOver = true);
    const card = await until("the card", async () => {
      const wasOver = isOver;
      const cards = await scene.phone.read("ask");
      return cards.find(({ body }) => body === command) ?? (wasOver && "at the computer");
    });
    if (card !== "at the computer") return { hook, card };
  }
  throw new Error(`the dialog opened at the computer ${BUSY_TIMES} times`);
}

type Said = Record<string, unknown> & { id: string };

/** Returns an answer sealed by the phone, as the relay delivers it to the host. */
async function sealed(
  { phone }: Scene,
  { card, digest, decision }: { card: Push; digest?: string; decision: Decision },
): Promise<Said> {
  const shown = askedOf(card);
  assert.ok(shown?.kind === "approval");
  const answer = await phone.answerOf(card, { kind: "decided", decision, digest: digest ?? shown.digest });
  const now = Date.now();
  return { ...answer, from: phone.deviceId, createdAt: now, expiresAt: now + 600_000 };
}

/** Delivers an answer to the host; resolves with the host's final outcome. */
async function give({ relay }: Scene, data: Said): Promise<unknown> {
  const ends = () =>
    relay.frames("push.ack", WAYS.fromHost).filter(({ data: ack }) => ack.id === data.id && ack.final);
  const before = ends().length;
  relay.say(WAYS.toHost, { event: "push.new", data });
  return (await until("the host's word", () => ends()[before])).data.outcome;
}

const newId = (): string => crypto.randomUUID();

/** What the relay does to the phone's answer to one card while another is open. */
const ATTACKS: Readonly<Record<string, (sent: Said, other: Push) => Said>> = {
  "as it is": (sent) => sent,
  "to the other card": (sent, other) => ({ ...sent, id: newId(), inReplyTo: other.id }),
  "under another id": (sent) => ({ ...sent, id: newId() }),
  "with a bit flipped": (sent) => {
    const { ciphertext, ...more } = sent.sealed as { ciphertext: string };
    const flipped = `${ciphertext.startsWith("A") ? "B" : "A"}${ciphertext.slice(1)}`;
    return { ...sent, id: newId(), sealed: { ...more, ciphertext: flipped } };
  },
};

/** Tries every n-th order, from `first` on; 1, as in `deno task prove cards`, tries all. */
const EVERY = Number(Deno.env.get("SVC_CARD_ORDERS_EVERY") ?? 4);

function* orders<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) yield [];
  for (const [place, item] of items.entries()) {
    for (const rest of orders(items.toSpliced(place, 1))) yield [item, ...rest];
  }
}

interface Count {
  orders: number;
  answers: number;
  /** How often the answered card was allowed, and the other. */
  own: number;
  other: number;
}

/** Runs the attacks on an answer in many orders, each time on new requests; counts the calls that the hooks allowed. */
async function attackAll(
  scene: Scene,
  { command, decision, first }: { command: string; decision: Decision; first: number },
): Promise<Count> {
  const count: Count = { orders: 0, answers: 0, own: 0, other: 0 };
  const tried = [...orders(Object.values(ATTACKS))].filter((_, place) => (place - first) % EVERY === 0);
  assert.ok(tried.length > 0, "no order is tried");
  for (const order of tried) {
    const number = count.orders++;
    const own = await asked(scene, `${command} own-${number}`);
    const other = await asked(scene, `${command} other-${number}`);
    const sent = await sealed(scene, { card: own.card, decision });
    for (const attack of order) {
      await give(scene, attack(sent, other.card));
      count.answers++;
    }
    for (const { hook } of [own, other]) hook.kill();
    const isAllowed = async ({ answer }: WaitingHook): Promise<boolean> => {
      const given = await answer;
      return given?.kind === "decided" && given.decision !== "reject";
    };
    if (await isAllowed(own.hook)) count.own++;
    if (await isAllowed(other.hook)) count.other++;
  }
  return count;
}

function show(what: string, { orders, answers, own, other }: Count): void {
  say(`hostile answers, ${what}: orders ${orders}, answers ${answers}, approvals ${own + other}`);
}

Deno.test("by default a request does not become a card, so it cannot be answered remotely [card-setting]", () =>
  withScene({}, async (scene) => {
    const hook = await WaitingHook.start(scene.stack, scene.session, "npm test");
    assert.equal(await hook.answer, undefined);
    assert.deepEqual(await scene.phone.read("ask"), []);
    say("hostile answers, none: approvals 0");
  }));

for (const [place, decision] of (["once", "always"] as const).entries()) {
  Deno.test(`where a phone may only reject, "${decision}" of a hostile phone allows nothing, in any order of a hostile relay [card-setting, card-bound, card-phones]`, () =>
    withScene({ allowRemoteApproval: "reject" }, async (scene) => {
      const count = await attackAll(scene, { command: "npm test", decision, first: place });
      show(`reject, ${decision}`, count);
      assert.deepEqual([count.own, count.other], [0, 0]);
    }));

  Deno.test(`a request on the list is never allowed by "${decision}", in any order of a hostile relay [card-never, card-bound]`, () =>
    withScene({ allowRemoteApproval: "always" }, async (scene) => {
      const count = await attackAll(scene, { command: "sudo make", decision, first: 2 + place });
      show(`the list, ${decision}`, count);
      assert.deepEqual([count.own, count.other], [0, 0]);
    }));
}

Deno.test("a phone's approval allows that request once, and nothing else, in any order of a hostile relay [card-bound, card-first]", () =>
  withScene({ allowRemoteApproval: "once" }, async (scene) => {
    const count = await attackAll(scene, { command: "npm test", decision: "once", first: 0 });
    show("once", count);
    assert.equal(count.other, 0);
    // It is allowed only in orders that begin with the true answer: any other first answer ends the card.
    assert.ok(count.own > 0 && count.own <= count.orders);
  }));

Deno.test("the answer to a card is never typed into a session, even if a hostile relay forwards it as a message [card-late, hostile-relay]", () =>
  withScene({ allowRemoteApproval: "always" }, async (scene) => {
    const { stack, session, phone } = scene;
    let sent = 0;
    for (const decision of ["once", "always", "reject"] as const) {
      const { hook, card } = await asked(scene, `npm run ${decision}`);
      const { id, inReplyTo, ...answer } = await sealed(scene, { card, decision });
      const message = { ...answer, type: "agent.command", targetDeviceId: stack.deviceId };
      const late = { ...message, inReplyTo, agentSessionName: session, data: { answer: id } };
      const ways: Said[] = [
        { ...late, id: await lateAnswerId(id) },
        { ...late, id: newId() },
        { ...message, id, agentSessionName: session },
      ];
      for (const way of ways) assert.equal(await give(scene, way), "refused", `message ${++sent}`);
      hook.kill();
    }
    assert.equal((await phone.send(session, "afterwards")).receipt.state, "submitted");
    const typed = await scene.prompts(1);
    say(`hostile answers, as messages: ${sent} sent, ${typed.indexOf("afterwards")} typed`);
    assert.deepEqual(typed, ["afterwards"]);
  }));
