/** The host's details are sealed for the paired phones, limited in size, and sent only if the relay lacks them. */
import assert from "node:assert/strict";
import { exportPublicKey, generateKeyPair } from "../../../../src/crypto/keys.ts";
import { openForPhone, type PhoneKeys } from "../../../../src/crypto/host_push.ts";
import { importSecret, newSecret } from "../../../../src/crypto/paired_secret.ts";
import {
  type DetailFacts,
  DetailsReport,
  type DetailsReportOptions,
  LINES_GAP_MS,
} from "../../../../src/listener/inventory/reporter.ts";
import { DETAILS_TYPE, type HostDetails, parseDetails } from "../../../../src/protocol/session.ts";

const HOST = "dev_listener_0a1b2c3d";
const start = { agents: ["cc"], projects: [{ project: "shop", directory: "/home/user/shop" }] };

function makeReport(
  facts: DetailFacts,
  phones: PhoneKeys[] = [],
  config: DetailsReportOptions["config"] = {},
): { report: DetailsReport; facts: DetailFacts } {
  const held = { ...facts };
  const options = { config, facts: () => Promise.resolve({ ...held }), now: () => 7 };
  return { facts: held, report: new DetailsReport({ ...options, keys: keysOf(phones) }) };
}

function keysOf(phones: PhoneKeys[]): DetailsReportOptions["keys"] {
  return {
    deviceId: HOST,
    knownPhones: () => Promise.resolve(phones),
    floor: ({ requireEncryption = "off" }) => Promise.resolve(requireEncryption),
  };
}

Deno.test("details are due until they were sent, when they change, and on a new connection [det-report]", async () => {
  const { report, facts } = makeReport({});
  const first = await report.next();
  assert.deepEqual(first?.reported, { plain: { at: 7 } });
  assert.notEqual(await report.next(), undefined);
  if (first) report.sent(first);
  assert.equal(await report.next(), undefined);
  facts.start = start;
  const second = await report.next();
  assert.deepEqual(second?.reported.plain?.start, start);
  if (second) report.sent(second);
  report.forget();
  assert.deepEqual((await report.next())?.reported, second?.reported);
});

Deno.test("with a paired phone the details are sealed for it, and the relay sees none of them [det-sealed]", async () => {
  const keyPair = await generateKeyPair();
  const secret = await importSecret(newSecret());
  assert.ok(secret);
  const phones = [{ deviceId: "dev_phone_1", publicKey: await exportPublicKey(keyPair.publicKey), secret }];
  const { reported } = await makeReport({ start }, phones).report.next() ?? {};
  assert.deepEqual(Object.keys(reported ?? {}), ["sealedFor"]);
  assert.ok(!JSON.stringify(reported).includes("shop"));
  const boundTo = { id: "", type: DETAILS_TYPE, agentSessionName: "", host: HOST };
  const text = await openForPhone(reported!.sealedFor!, { boundTo, phone: "dev_phone_1", keyPair, secret });
  assert.deepEqual(parseDetails(text ?? ""), { at: 7, start });
});

Deno.test("a host that accepts only sealed messages reveals nothing to the relay while no phone is paired [det-sealed]", async () => {
  const facts = { start, muted: [{ directory: "/home/user/shop" }] };
  const { reported } = await makeReport(facts, [], { requireEncryption: "psk" }).report.next() ?? {};
  assert.deepEqual(reported, { plain: { at: 7 } });
});

Deno.test("many projects with long paths are cut to what fits into a report [det-bounded]", async () => {
  const projects = Array.from(
    { length: 200 },
    (_, n) => ({ project: `p${n}`, directory: `/${"x".repeat(900)}${n}` }),
  );
  const { reported } = await makeReport({ start: { agents: ["cc"], projects } }).report.next() ?? {};
  const kept = (reported?.plain as HostDetails).start?.projects ?? [];
  assert.ok(kept.length > 10 && JSON.stringify(reported).length < 24_000, `${kept.length}`);
  assert.equal(kept[0]?.project, "p0");
  const muted = Array.from({ length: 100 }, (_, n) => ({ directory: `/${"x".repeat(900)}${n}` }));
  const facts = { start: { agents: ["cc"], projects }, muted };
  const { reported: both } = await makeReport(facts).report.next() ?? {};
  assert.ok(JSON.stringify(both).length < 24_000);
  assert.ok(both?.plain?.muted?.length, "muted projects are kept longer than those to start in");
  assert.deepEqual(both.plain.start, { agents: ["cc"], projects: [] });
});

Deno.test("lines are sent only sealed, and if only lines are new they wait for a moment [det-lines, fault-clock]", async () => {
  const keyPair = await generateKeyPair();
  const secret = await importSecret(newSecret());
  assert.ok(secret);
  const phone = { deviceId: "dev_phone_1", publicKey: await exportPublicKey(keyPair.publicKey), secret };
  const phones: PhoneKeys[] = [];
  let now = 0;
  let line = "one";
  const facts = () => Promise.resolve({ lines: { "svc-shop": line } });
  const options = { keys: keysOf(phones), config: {}, facts, now: () => now };
  const report = new DetailsReport(options);
  assert.deepEqual((await report.next())?.reported, { plain: { at: 0 } });
  phones.push(phone);
  const due = await report.next();
  assert.ok(due?.reported.sealedFor);
  const boundTo = { id: "", type: DETAILS_TYPE, agentSessionName: "", host: HOST };
  const text = await openForPhone(due.reported.sealedFor, {
    boundTo,
    phone: phone.deviceId,
    keyPair,
    secret,
  });
  assert.deepEqual(parseDetails(text ?? "")?.lines, { "svc-shop": "one" });
  report.sent(due);
  line = "two";
  now = LINES_GAP_MS - 1;
  assert.equal(await report.next(), undefined);
  now = LINES_GAP_MS;
  assert.notEqual(await report.next(), undefined);
  now = -3_600_000;
  assert.notEqual(await report.next(), undefined, "the clock was set back");
  line = "one";
  assert.equal(await report.next(), undefined, "it has not changed");
});
