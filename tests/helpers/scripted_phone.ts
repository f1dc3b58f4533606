/** A phone without a browser, of the page's own parts: it opens a pairing link, and sends as the page does. */
import assert from "node:assert/strict";
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { generateKeyPair } from "../../src/crypto/keys.ts";
import { claimPairing, type PairedHost } from "../../src/phone/pairing.ts";
import { parseHandover } from "../../src/phone/route.ts";
import { Sealing } from "../../src/phone/sealing.ts";
import type { PushRecord, PushRequestInput } from "../../src/protocol/push.ts";
import { FakePairingStorage } from "../unit/phone/fake_pairing_storage.ts";

export interface ScriptedPhone {
  api: RelayApi;
  apiKey: string;
  deviceId: string;
  host: PairedHost;
  words: string[];
  /** The push of a message as this phone sends it, sealed. */
  pushOf(session: string, body: string): Promise<PushRequestInput & { id: string }>;
  /** Sends it; resolves with the final receipt. */
  send(session: string, body: string): Promise<PushRecord>;
}

/** `baseUrl` in place of the link's own, for a wire in between. Throws what the claim throws. */
export async function pairScriptedPhone(
  link: string,
  options: { name?: string; baseUrl?: string; apiKey?: string } = {},
): Promise<ScriptedPhone> {
  const { origin, hash } = new URL(link);
  const { name = "iPhone", baseUrl = origin, apiKey } = options;
  const handover = parseHandover(hash);
  assert.ok(handover?.kind === "pair");
  const keyPair = await generateKeyPair();
  const { code, secret } = handover;
  const { account, paired } = await claimPairing(createRelayApi({ baseUrl, apiKey }), {
    code,
    secret,
    name,
    keyPair,
  });
  assert.ok(paired, "the link has no secret, or the relay gave no offer");
  const sealing = new Sealing({ storage: new FakePairingStorage(), now: Date.now });
  await sealing.keep(paired.host);
  const api = createRelayApi({ baseUrl, apiKey: account.apiKey });
  const pushOf: ScriptedPhone["pushOf"] = async (session, body) => {
    const id = crypto.randomUUID();
    const { deviceId } = paired.host;
    const content = await sealing.contentOf({ id, deviceId, session, body });
    return { id, type: "agent.command", targetDeviceId: deviceId, agentSessionName: session, ...content };
  };
  return {
    api,
    apiKey: account.apiKey,
    deviceId: account.deviceId,
    host: paired.host,
    words: paired.words,
    pushOf,
    send: async (session, body) => {
      const { id } = await api.sendPush(await pushOf(session, body));
      return await waitForReceipt(api, id, { timeoutMs: 60_000, pollMs: 50 });
    },
  };
}
