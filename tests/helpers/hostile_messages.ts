/** Attacks by a hostile relay on messages, and its false reports about them. */
import assert from "node:assert/strict";
import { type HttpCall, rewriting, WAYS } from "./hostile_relay.ts";
import {
  type Attacked,
  attacked,
  EVIL,
  type Expectation,
  type HostileStage,
  type Row,
} from "./hostile_stage.ts";
import type { PagePhone } from "./page_phone.ts";
import { until } from "./until.ts";

type Data = Record<string, unknown>;

const UNOPENED = /^Refused\. The sealed message could not be opened/;
const BELOW_FLOOR = /^Refused\. This host takes sealed messages only/;
const SUBMITTED: Expectation = { outcome: "no effect", phone: /^Submitted/ };
const UNPROVEN = /^Queued\. The relay says “Refused”, but the host has not confirmed it/;
export const NOT_OPENED = /not opened: it is damaged, forged, or sealed for another place/;

/** Like `attacked`, for a message's bubble instead of a terminal. */
function bubbleOf(phone: PagePhone, words: () => string): Attacked {
  const bodies = (): string => [...phone.store.get().messages.values()].map(({ body }) => body).join("\n");
  return { ...attacked(phone), words, shown: bodies };
}

async function sent(stage: HostileStage, phone: PagePhone): Promise<Attacked> {
  const message = await phone.send(stage.session.name, stage.text());
  return bubbleOf(phone, () => phone.wordsOf(message));
}

/** The phone sends a message, and the host gets the relay's version of it. */
function changing(
  name: string,
  expect: Row["expect"],
  change: (push: Data & { sealed: Data }, stage: HostileStage) => Data,
): Row {
  return {
    name,
    expect,
    run: async (stage) => {
      const phone = await stage.phone();
      stage.attack(
        rewriting("push.new", WAYS.toHost, (push) => change(push as Data & { sealed: Data }, stage)),
      );
      return await sent(stage, phone);
    },
  };
}

function flipped(text: unknown): string {
  const [first = "", ...rest] = String(text);
  return [first === "A" ? "B" : "A", ...rest].join("");
}

const CHANGED: readonly Row[] = [
  changing(
    "sends a message to another session",
    { psk: { phone: UNOPENED, host: NOT_OPENED } },
    (push, { other }) => ({
      ...push,
      agentSessionName: other.name,
    }),
  ),
  changing("flips a bit of a message", { psk: { phone: UNOPENED, host: NOT_OPENED } }, (push) => ({
    ...push,
    sealed: { ...push.sealed, ciphertext: flipped(push.sealed.ciphertext) },
  })),
  changing("truncates a message", { psk: { phone: UNOPENED, host: NOT_OPENED } }, (push) => ({
    ...push,
    sealed: { ...push.sealed, ciphertext: String(push.sealed.ciphertext).slice(0, -8) },
  })),
  changing(
    "has a message typed over a local user's draft",
    { psk: { phone: UNOPENED, host: NOT_OPENED } },
    (push) => ({
      ...push,
      data: { sendAnyway: true },
    }),
  ),
  changing(
    "attributes a message to another phone",
    { psk: { phone: UNPROVEN, host: /not opened: this host is not paired with it/ } },
    (push) => ({ ...push, from: "dev_phone_other" }),
  ),
  changing(
    "marks a message as sealed in base mode",
    { psk: { phone: UNPROVEN, host: /sealed_required/ } },
    (push) => ({
      ...push,
      sealed: { ...push.sealed, mode: "base" },
    }),
  ),
  changing("replaces a message by plain text", {
    psk: { phone: UNPROVEN, host: /sealed_required/ },
    base: { phone: BELOW_FLOOR },
  }, ({ sealed: _sealed, ...push }) => ({ ...push, body: EVIL })),
  changing("adds plain text to a message", { psk: SUBMITTED }, (push) => ({ ...push, body: EVIL })),
  changing("extends a message's expiry", { psk: SUBMITTED }, (push) => ({
    ...push,
    expiresAt: Number(push.expiresAt) + 864e5,
  })),
];

/** Sends the newest message to the host again, possibly changed, and waits for the result. */
async function giveAgain({ relay }: HostileStage, change: Data = {}): Promise<void> {
  const push = relay.frames("push.new", WAYS.toHost).at(-1);
  assert.ok(push);
  const data: Data = { ...push.data, ...change };
  const ends = (): number =>
    relay.frames("push.ack", WAYS.fromHost).filter(({ data: ack }) => ack.id === data.id && ack.final).length;
  const before = ends();
  relay.say(WAYS.toHost, { ...push, data });
  await until("the host's answer", () => ends() > before);
}

function repeating(name: string, expect: Expectation, again: (stage: HostileStage) => Promise<void>): Row {
  return {
    name,
    expect: { psk: expect },
    run: async (stage) => {
      const found = await sent(stage, await stage.phone());
      await until("a message that was typed", () => /^Submitted/.test(found.words()));
      await again(stage);
      return found;
    },
  };
}

const REPEATED: readonly Row[] = [
  repeating("repeats a message that was acknowledged", SUBMITTED, (stage) => giveAgain(stage)),
  repeating(
    "repeats a message under another id",
    { phone: /^Submitted/, host: NOT_OPENED },
    (stage) => giveAgain(stage, { id: crypto.randomUUID() }),
  ),
  repeating("repeats a message after the host was restarted", SUBMITTED, async (stage) => {
    await stage.restartHost();
    await giveAgain(stage);
  }),
];

const isSending = ({ method, path }: { method: string; path: string }): boolean =>
  method === "POST" && path === "/pushes/send";

const LIES: readonly Row[] = [
  {
    name: "refuses a sealed message, to make the phone send plain text",
    expect: { psk: SUBMITTED },
    run: async (stage) => {
      const phone = await stage.phone();
      const bodies: Data[] = [];
      let isRefusing = true;
      stage.attack({
        call: (call) => {
          if (isSending(call)) bodies.push(call.body as Data);
          const problem = { type: "about:blank", title: "no", status: 400, code: "invalid_push" };
          return isSending(call) && isRefusing ? { answer: problem, status: 400 } : { body: call.body };
        },
      });
      const message = await phone.send(stage.session.name, stage.text());
      assert.equal(message.progress.kind, "failed");
      isRefusing = false;
      await phone.controller.resend(message);
      assert.deepEqual(bodies[1], bodies[0]);
      assert.ok(!JSON.stringify(bodies).includes(message.body));
      return bubbleOf(phone, () => phone.wordsOf(message));
    },
  },
  {
    name: "answers for another message",
    expect: {
      psk: { phone: /the relay answered for a different one/ },
      base: { phone: /the relay answered for a different one/ },
    },
    run: async (stage) => {
      const phone = await stage.phone();
      const other = crypto.randomUUID();
      stage.attack({
        answer: (body, call) => isSending(call) ? { ...body as Data, id: other } : withoutHistory(body, call),
        // Drops the host's receipt, which would arrive later and replace the false answer; `answer` hides the history
        // for the same reason.
        ...rewriting("push.updated", WAYS.toPhone, () => undefined),
      });
      return await sent(stage, phone);
    },
  },
  {
    name: "withholds a message, and reports that it was submitted",
    expect: {
      psk: { phone: /^Queued\. The relay says “Submitted”, but the host has not confirmed it/ },
      base: { outcome: "gap", phone: /^Submitted/ },
    },
    run: async (stage) => {
      const phone = await stage.phone();
      stage.attack(rewriting("push.new", WAYS.toHost, ({ id }) => {
        const receipt = { state: "submitted", final: true, at: { submitted: Date.now() } };
        stage.relay.say(WAYS.toPhone, { event: "push.updated", data: { id, receipt } });
        return undefined;
      }));
      const [session, text] = [stage.session.name, stage.text()];
      await phone.controller.send({ deviceId: stage.stack.deviceId, session }, text);
      const message = [...phone.store.get().messages.values()].find(({ body }) => body === text);
      assert.ok(message);
      return bubbleOf(phone, () => phone.wordsOf(message));
    },
  },
  {
    name: "forges a message in the history",
    expect: { psk: { outcome: "no effect" } },
    run: async (stage) => {
      const first = await stage.phone();
      const { id, body } = await first.send(stage.session.name, stage.text());
      first[Symbol.dispose]();
      stage.attack({
        answer: (answer, { path }) => path.startsWith("/pushes?") ? forged(answer, id) : answer,
      });
      const phone = await stage.phone();
      await until("the message", () => phone.store.get().messages.get(id)?.body === body);
      return bubbleOf(phone, () => "");
    },
  },
];

function withoutHistory(body: unknown, { path }: HttpCall): unknown {
  return path.startsWith("/pushes?") ? { ...body as Data, pushes: [] } : body;
}

function forged(answer: unknown, id: string): unknown {
  const { pushes, ...page } = answer as { pushes: { push: Data; receipt: unknown }[] };
  const forgedPushes = pushes.map(({ push: { sealed, ...push }, receipt }) => ({
    push: push.id === id ? { ...push, body: EVIL } : { ...push, sealed },
    receipt,
  }));
  return { ...page, pushes: forgedPushes };
}

export const MESSAGE_ROWS: readonly Row[] = [...CHANGED, ...REPEATED, ...LIES];
