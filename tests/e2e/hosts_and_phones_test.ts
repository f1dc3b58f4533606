/** Two hosts and two phones of one account: pairing, delivery, and what a revoked phone loses. */
import assert from "node:assert/strict";
import { HostileRelay, WAYS } from "../helpers/hostile_relay.ts";
import { PagePhone } from "../helpers/page_phone.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

const SEALED = /^Live, \d+ × \d+ · End-to-end encrypted$/;

async function pair(phone: PagePhone, host: Stack): Promise<void> {
  await phone.open(await host.pairLink());
  // A revoked phone gets a new account, which its user must confirm.
  if (phone.store.get().swap !== undefined) await phone.controller.swapAccount(() => Promise.resolve());
  await phone.controller.confirmPairing();
  assert.deepEqual(phone.signInWords(), "");
}

/** Sends the text; resolves with the text of its bubble. */
async function said(
  phone: PagePhone,
  { session, host, text }: { session: string; host: Stack; text: string },
): Promise<string> {
  return phone.wordsOf(await phone.send(session, text, host.deviceId));
}

Deno.test("two hosts and two phones reach only what they are paired with, and revoking one phone affects no other [pair-devices, sec-leaked-key, seal-stored]", async () => {
  await using here = await makeStack();
  await using relay = await HostileRelay.start(here.url);
  const joins = { relay: here.relay, url: relay.url, wsUrl: relay.wsUrl, apiKey: here.apiKey };
  await using there = await makeStack({ joins, hostname: "host-b" });
  assert.notEqual(there.deviceId, here.deviceId);
  const [agentHere, agentThere] = [await here.echo(), await there.echo()];
  const session = agentHere.name;
  assert.equal(agentThere.name, session, "both hosts have a session of this name");

  using first = new PagePhone({ baseUrl: here.url, name: "first" });
  using second = new PagePhone({ baseUrl: here.url, name: "second" });
  await pair(first, here);
  await pair(first, there);
  await pair(second, there);
  assert.deepEqual([...first.store.get().paired].sort(), [here.deviceId, there.deviceId].sort());
  assert.deepEqual([...second.store.get().paired], [there.deviceId]);
  for (const phone of [first, second]) {
    for (const host of [here, there]) await phone.lists(session, host.deviceId);
  }
  const mirrors = [
    { watched: first.watch(session, here.deviceId), words: SEALED },
    { watched: first.watch(session, there.deviceId), words: SEALED },
    { watched: second.watch(session, there.deviceId), words: SEALED },
  ];
  for (const { watched, words } of mirrors) {
    await watched.live();
    assert.match(watched.words(), words);
  }
  // The first use of a pairing confirms it; after that the host accepts nothing weaker.
  const stranger = second.watch(session, here.deviceId);
  const refused = await until("the refusal of a phone that is not paired", () => {
    const ended = stranger.states.find((state) => state.kind === "ended");
    return ended?.kind === "ended" && ended.reason;
  });
  assert.equal(refused, "sealed_required");
  const [firstHere, , secondThere] = mirrors.map(({ watched }) => watched);

  assert.match(await said(first, { session, host: here, text: "for here" }), /^Submitted/);
  assert.match(await said(first, { session, host: there, text: "for there" }), /^Submitted/);
  assert.match(await said(second, { session, host: there, text: "for there, too" }), /^Submitted/);
  await until("the mirrored prompt", () => secondThere?.text().includes("for there, too"));

  const sealedHere = await first.send(session, "meant for here", here.deviceId);
  const { push } = await here.api.getPush(sealedHere.id);
  relay.say(WAYS.toHost, { event: "push.new", data: { ...push, targetDeviceId: there.deviceId } });
  await there.listener.line(/not opened: it is damaged, forged, or sealed for another place/);

  const revoked = await here.svc("devices", "revoke", first.deviceId);
  assert.equal(revoked.code, 0, revoked.stderr);
  await until("the first phone's socket to end", () => {
    const { link } = first.store.get();
    return link.kind === "down" && link.problem?.code === "revoked";
  });
  assert.notEqual(firstHere?.state.kind, "live");
  assert.match(await said(second, { session, host: there, text: "still here" }), /^Submitted/);
  assert.match(secondThere?.words() ?? "", SEALED);

  await pair(first, here);
  await first.lists(session, here.deviceId);
  assert.match(await said(first, { session, host: here, text: "paired again" }), /^Submitted/);
  assert.deepEqual(await agentHere.prompts(3), ["for here", "meant for here", "paired again"]);
  assert.deepEqual(await agentThere.prompts(3), ["for there", "for there, too", "still here"]);
});
