/** One account with two hosts, a phone for each, and every kind of key, for the tests of what keys may do. */
import { PairingClaimed, PairingCreated } from "../../src/protocol/http.ts";
import { SUBSCRIPTION } from "./push_vendor.ts";
import { type FakeClient, Fixture, sessionNamed, uuid } from "../unit/relay/fixture.ts";

/** The kinds of key. The phone is paired with the host under test. */
export const KEY_KINDS = [
  "no key",
  "script",
  "phone",
  "other host's phone",
  "read-only",
  "listener",
  "other listener",
  "any role",
  "revoked",
  "admin",
  "other account",
] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

export const HOST = "dev_listener_0a1b2c3d";
export const OTHER_HOST = "dev_listener_bbbbbbbb";
export const ASKER = "dev_script_asker";
export const SESSION = "svc-walk";
export const HOOK = "hook_walk";
/** Part of the host's stored data: an answer that contains it has revealed that data. */
export const SECRET = "walked-body";

export interface AccessStage extends AsyncDisposable {
  relay: Fixture;
  keys: Record<KeyKind, string | undefined>;
  /** A push from the phone that is queued for the host. */
  pushId: string;
  /** A push for phones. */
  noteId: string;
  phoneId: string;
  /** The host's unclaimed pairing code. */
  code: string;
  host: FakeClient;
  phone: FakeClient;
  /** The host's number for the phone's mirror. */
  stream: number;
}

export async function makeAccessStage(): Promise<AccessStage> {
  const relay = await Fixture.make();
  const both = ["push:send", "push:read"] as const;
  const hostKey = await relay.key(both, { role: "listener", deviceId: HOST });
  const otherHostKey = await relay.key(both, { role: "listener", deviceId: OTHER_HOST });
  const revoked = await relay.key(both, { name: "revoked" });
  const gone = (await relay.services.store.listKeys()).find(({ name }) => name === "revoked");
  await relay.services.store.revokeKey(gone?.id ?? "", relay.clock.now());
  const paired = await pair(relay, hostKey);
  const keys = {
    "no key": undefined,
    script: await relay.key(both, { role: "script" }),
    phone: paired.apiKey,
    "other host's phone": (await pair(relay, otherHostKey)).apiKey,
    "read-only": await relay.key(["push:read"]),
    listener: hostKey,
    "other listener": otherHostKey,
    "any role": await relay.key(both),
    revoked,
    admin: await relay.key([...both, "admin"]),
    "other account": await relay.key([...both, "admin"], { account: "other" }),
  };
  const host = await relay.connect(hostKey, { role: "listener", deviceId: HOST });
  await host.send("listener.sessions", { sequence: 1, sessions: [sessionNamed(SESSION)] });
  await relay.connect(hostKey, { role: "script", deviceId: ASKER });
  const phone = await relay.connect(paired.apiKey);
  await phone.send("pane.open", { stream: 1, agentSessionName: SESSION, deviceId: HOST });
  const [pushId, noteId] = [uuid(1), uuid(2)];
  const push = { id: pushId, type: "agent.command", agentSessionName: SESSION, targetDeviceId: HOST };
  await relay.request("POST", "/pushes/send", { key: paired.apiKey, body: { ...push, body: SECRET } });
  const note = { id: noteId, type: "note", body: SECRET, data: { hookId: HOOK } };
  await relay.request("POST", "/pushes/send", { key: hostKey, body: note });
  await relay.services.store.saveWebPush({ account: "default", id: paired.deviceId }, SUBSCRIPTION);
  return {
    relay,
    keys,
    pushId,
    noteId,
    phoneId: paired.deviceId,
    code: await codeOf(relay, hostKey),
    host,
    phone,
    stream: host.received("pane.open")[0]?.data.stream ?? 0,
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  };
}

async function pair(relay: Fixture, key: string): Promise<PairingClaimed> {
  const path = `/pairings/${await codeOf(relay, key)}/claim`;
  return PairingClaimed.parse(await (await relay.request("POST", path, { body: { name: "phone" } })).json());
}

async function codeOf(relay: Fixture, key: string): Promise<string> {
  return PairingCreated.parse(await (await relay.request("POST", "/pairings", { key })).json()).code;
}
