/** A phone without a browser, built from the page's own code: it opens a pairing link and sends as the page does. */
import assert from "node:assert/strict";
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { claimPairing, type PairedHost } from "../../src/client/claim_pairing.ts";
import { parseSignInLink } from "../../src/phone/route.ts";
import { answerPush } from "../../src/phone/outbox.ts";
import { Sealing } from "../../src/phone/sealing.ts";
import { type Answer, answerFields, answerText } from "../../src/protocol/ask.ts";
import type { Push, PushRecord, PushRequestInput } from "../../src/protocol/push.ts";
import { FakePairingStorage } from "../unit/phone/fake_pairing_storage.ts";
import { SAFETY_LIMIT_MS } from "./until.ts";

export interface ScriptedPhone {
  api: RelayApi;
  apiKey: string;
  deviceId: string;
  host: PairedHost;
  /** Its own keys. */
  keyPair: CryptoKeyPair;
  words: string[];
  /** Returns a message as this phone sends it, sealed. */
  pushOf(session: string, body: string): Promise<PushRequestInput & { id: string }>;
  /** Sends it; resolves with the final receipt. */
  send(session: string, body: string): Promise<PushRecord>;
  /** Returns the pushes of this type as this phone reads them, newest last. */
  read(type: string): Promise<Push[]>;
  /** Returns an answer as this phone sends it, sealed if the question was. */
  answerOf(question: Push, answer: Answer): Promise<PushRequestInput & { id: string }>;
}

/** Pairs a phone. `baseUrl` replaces the link's own, for a proxy in between. Throws what the claim throws. */
export async function pairScriptedPhone(
  link: string,
  options: { name?: string; baseUrl?: string; apiKey?: string } = {},
): Promise<ScriptedPhone> {
  const { origin, hash } = new URL(link);
  const { name = "iPhone", baseUrl = origin, apiKey } = options;
  const pairing = parseSignInLink(hash);
  assert.ok(pairing?.kind === "pair");
  const storage = new FakePairingStorage();
  const keyPair = await storage.ownKeys();
  const { code, secret } = pairing;
  const { account, paired } = await claimPairing(createRelayApi({ baseUrl, apiKey }), {
    code,
    secret,
    name,
    keyPair,
  });
  assert.ok(paired, "the link has no secret, or the relay gave no offer");
  const sealing = new Sealing({ storage, now: Date.now });
  await sealing.keepHost(paired.host);
  const api = createRelayApi({ baseUrl, apiKey: account.apiKey });
  const pushOf: ScriptedPhone["pushOf"] = async (session, body) => {
    const id = crypto.randomUUID();
    const { deviceId } = paired.host;
    const content = await sealing.outgoingContent({ id, type: "agent.command", deviceId, session, body });
    return { id, type: "agent.command", targetDeviceId: deviceId, agentSessionName: session, ...content };
  };
  const answerTo: ScriptedPhone["answerOf"] = async (question, answer) => {
    const { data } = answerFields(answer);
    const host = question.sealedFor?.host;
    const sealTo = host && { deviceId: host, session: question.agentSessionName ?? "" };
    const answers = { question: question.id, ...(data ? { data } : {}), ...(sealTo ? { sealTo } : {}) };
    const id = crypto.randomUUID();
    const entry = { id, deviceId: "", session: "", body: answerText(answer), answers, createdAt: Date.now() };
    return { ...await answerPush({ ...entry, progress: { kind: "outbox" } }, sealing), id };
  };
  return {
    api,
    apiKey: account.apiKey,
    deviceId: account.deviceId,
    host: paired.host,
    keyPair,
    words: paired.words,
    pushOf,
    answerOf: answerTo,
    read: async (type) => {
      const { pushes } = await api.listPushes({ before: "end", limit: 200 });
      const records = await sealing.openRecords(pushes.filter(({ push }) => push.type === type));
      return records.map(({ push }) => push);
    },
    send: async (session, body) => {
      const { id } = await api.sendPush(await pushOf(session, body));
      return await waitForReceipt(api, id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 });
    },
  };
}
