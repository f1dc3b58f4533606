/** svc pair and svc devices on the real stack, with scripted phones. */
import assert from "node:assert/strict";
import { RelayLink } from "../../src/client/relay_link.ts";
import { RelayError } from "../../src/client/relay_error.ts";
import { qrLines } from "../../src/cli/pair.ts";
import { DEFAULT_ACCOUNT } from "../../src/relay/api_keys.ts";
import { openRelayStore } from "../../src/store/open.ts";
import { outcomeOf } from "../helpers/outcome_of.ts";
import { startSvc } from "../helpers/program.ts";
import { pairScriptedPhone, type ScriptedPhone } from "../helpers/scripted_phone.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

const LINK = /^(http:\/\/localhost:\d+\/#pair=([\w-]{22,})&s=([\w-]{43}))$/;

async function pairJson(stack: Stack): Promise<{ code: string; url: string; expiresAt: number }> {
  const { code, stdout, stderr } = await stack.svc("pair", "--json");
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

async function paired(stack: Stack, name?: string): Promise<ScriptedPhone> {
  return await pairScriptedPhone(await stack.pairLink(), name === undefined ? {} : { name });
}

const sent = async (phone: ScriptedPhone, session: string, body: string): Promise<string> => {
  const { receipt } = await phone.send(session, body);
  return outcomeOf(receipt);
};

Deno.test("svc pair prints QR and link, waits, and shows the six words of the phone [cli-pair, pair-qr, pair-words, tty-qr]", async () => {
  await using stack = await makeStack();
  const waiting = startSvc(stack.sandbox, ["pair"]);
  const [link = ""] = await waiting.line(LINK);
  const qr = waiting.output().split("\n").filter((line) => /^[█▀▄ ]{20,80}$/.test(line));
  assert.ok(qr.length > 15 && qr.length <= 24, `${qr.length} lines`);
  await waiting.line(/^This link pairs one phone, once, within 10 minutes\. Waiting for it …$/);
  const phone = await pairScriptedPhone(link);
  await waiting.line(/^Paired: iPhone\./);
  assert.equal((await waiting.exited).code, 0);
  assert.ok(waiting.output().includes(`\n  ${phone.words.join(" ")}\n`), waiting.output());
});

Deno.test("the link's QR fits 80 × 24 with the address of a tunnel [tty-qr]", () => {
  const fields = `#pair=${"x".repeat(22)}&s=${"y".repeat(43)}`;
  const lines = qrLines(`https://some-quite-random-words-here.trycloudflare.com/${fields}`);
  assert.ok(lines.length <= 24 && lines.every((line) => line.length <= 80), `${lines.length} lines`);
});

Deno.test("an address that no phone can open is refused before a code is created [cli-pair]", async () => {
  await using stack = await makeStack({ listener: false });
  const { code, stderr } = await stack.svc("pair", "--json", "--public-url", "relay.example");
  assert.deepEqual([code, /"relay\.example": give one such as https/.test(stderr)], [2, true]);
  const store = await openRelayStore(`${stack.sandbox.svcHome}/server`);
  const [key] = await store.listKeys();
  assert.equal((await store.keyUse(key?.id ?? "", Date.now())).openPairings, 0);
  await store.close();
});

Deno.test("svc pair --json prints code, url and expiresAt at once; the phone is still paired [con-pair, cli-json, seal-stored]", async () => {
  await using stack = await makeStack();
  const { name, prompts } = await stack.echo();
  const before = Date.now();
  const { code, url, expiresAt } = await pairJson(stack);
  const [, , linkCode] = LINK.exec(url) ?? [];
  assert.equal(linkCode, code);
  assert.ok(expiresAt >= before + 600_000);
  const phone = await pairScriptedPhone(url);
  assert.equal(await sent(phone, name, "sealed at once"), "submitted");
  assert.deepEqual(await prompts(1), ["sealed at once"]);
});

Deno.test("svc devices lists listener and phones; revoking one closes its sockets and forgets its secret, the other stays [cli-devices, pair-devices, sec-leaked-key]", async () => {
  await using stack = await makeStack();
  const { name } = await stack.echo();
  const [lost, kept] = [await paired(stack, "lost phone"), await paired(stack, "kept phone")];
  for (const phone of [lost, kept]) assert.equal(await sent(phone, name, "hello"), "submitted");
  await stack.svc("verify");
  const made = await stack.svc("pair", "--script", `${stack.sandbox.root}/ci.json`);
  const [script] = /dev_phone_\w+/.exec(made.stdout) ?? [];
  const all = JSON.parse((await stack.svc("devices", "--json", "--all")).stdout);
  assert.equal(all.filter(({ kind }: { kind: string }) => kind === "script").length, 2);
  const listed = JSON.parse((await stack.svc("devices", "--json")).stdout);
  const facts = listed.map(({ id, kind, paired }: Record<string, unknown>) => [id, kind, paired]);
  assert.deepEqual(facts, [
    [stack.deviceId, "listener", false],
    [lost.deviceId, "phone", true],
    [kept.deviceId, "phone", true],
    [script, "script", true],
  ], "a paired script can type into sessions, unlike what svc verify connects as");
  const table = (await stack.svc("devices")).stdout;
  assert.match(table, /^NAME +KIND +LAST SEEN +PAIRED HERE +ID$/m);
  assert.match(table, new RegExp(`^lost phone +phone +\\S.* +yes +${lost.deviceId}$`, "m"));

  const states: string[] = [];
  const link = new RelayLink({
    wsUrl: stack.wsUrl,
    apiKey: lost.apiKey,
    hello: () => ({ role: "phone", name: "lost phone", version: "0", capabilities: [] }),
    onFrame: () => {},
    onState: (state) => states.push(state.state === "waiting" ? state.problem?.code ?? "" : state.state),
  });
  link.start();
  await until("the socket", () => states.includes("connected"));
  const revoked = await stack.svc("devices", "revoke", lost.deviceId);
  assert.equal(revoked.code, 0, revoked.stderr);
  assert.match(revoked.stdout, /Forgot the secret .*\nRevoked dev_phone_/);
  await until("the end of the socket", () => states.includes("revoked"));
  link.close();

  const refusal = (error: unknown): boolean =>
    error instanceof RelayError && error.code === "unauthenticated";
  await assert.rejects(lost.send(name, "still me"), refusal);
  const file = await Deno.readTextFile(`${stack.sandbox.svcHome}/paired.json`);
  assert.ok(!file.includes(lost.deviceId) && file.includes(kept.deviceId));
  assert.equal(await sent(kept, name, "hello again"), "submitted");
  const again = await stack.svc("devices", "revoke", lost.deviceId);
  assert.equal(again.code, 1);
});

Deno.test("a phone revoked elsewhere is listed while this host has its secret, and revoking it here deletes the secret [pair-devices]", async () => {
  await using stack = await makeStack();
  const { name } = await stack.echo();
  const phone = await paired(stack, "elsewhere");
  assert.equal(await sent(phone, name, "hello"), "submitted");
  const store = await openRelayStore(`${stack.sandbox.svcHome}/server`);
  await store.revokeDevice({ account: DEFAULT_ACCOUNT, id: phone.deviceId }, Date.now());
  await store.close();
  const listed = await stack.svc("devices");
  assert.match(
    listed.stdout,
    new RegExp(`^elsewhere +phone +not at the relay +yes +${phone.deviceId}$`, "m"),
  );
  const revoked = await stack.svc("devices", "revoke", phone.deviceId);
  assert.deepEqual([revoked.code, revoked.stderr], [0, ""]);
  assert.match(revoked.stdout, /Forgot the secret .*\nThe relay has no device dev_phone_/);
  assert.doesNotMatch((await stack.svc("devices")).stdout, /elsewhere/);
});

Deno.test("a phone's waiting messages are not typed once svc devices has revoked it [sec-revoke-waiting]", async () => {
  await using stack = await makeStack();
  const agent = await stack.echo();
  const [lost, kept] = [await paired(stack, "lost"), await paired(stack, "kept")];
  const before = await agent.screen();
  await agent.control({ op: "permit" });
  // tmux may be late in reading what the agent has drawn.
  await until("the dialog", async () => await agent.screen() !== before);
  const pushes = await Promise.all(["one", "two", "three"].map((body) => lost.pushOf(agent.name, body)));
  for (const push of pushes) await lost.api.sendPush(push);
  const receipts = async (): Promise<string[]> => {
    const { pushes: all } = await kept.api.listPushes({ before: "end", limit: 20 });
    return all.filter(({ push }) => push.type === "agent.command").map(({ receipt }) => outcomeOf(receipt));
  };
  await until("the hold", async () => (await receipts()).includes("held dialog_open"));
  await until("the others at the host", async () => !(await receipts()).includes("queued"));
  const revoked = await stack.svc("devices", "revoke", lost.deviceId);
  assert.equal(revoked.code, 0, revoked.stderr);
  await until("the refusals", async () => (await receipts()).every((one) => one === "refused unsealable"));
  await agent.control({ op: "deny" });
  assert.equal(await sent(kept, agent.name, "from the other phone"), "submitted");
  assert.deepEqual(await agent.prompts(1), ["from the other phone"]);
});

Deno.test("svc devices revoke deletes the secret before it asks a relay that does not answer [pair-devices, sec-revoke-waiting]", async () => {
  await using stack = await makeStack();
  const { name } = await stack.echo();
  const phone = await paired(stack, "lost");
  assert.equal(await sent(phone, name, "hello"), "submitted");
  await stack.pairLink();
  let givenUp = 0;
  const end = new AbortController();
  const options = { hostname: "127.0.0.1", port: 0, signal: end.signal, onListen: () => {} };
  const silent = Deno.serve(options, ({ signal }) => {
    signal.addEventListener("abort", () => givenUp++);
    return new Promise(() => {});
  });
  const revoking = startSvc(stack.sandbox, ["devices", "revoke", phone.deviceId], {
    env: { SVC_BASE_URL: `http://127.0.0.1:${silent.addr.port}` },
  });
  await revoking.line(/^Forgot the secret/);
  assert.equal(givenUp, 0, "no request has run into its time limit before");
  const { phones } = JSON.parse(await Deno.readTextFile(`${stack.sandbox.svcHome}/paired.json`));
  assert.deepEqual(phones, []);
  revoking.kill("SIGKILL");
  await revoking.exited;
  // A shutdown would wait for the answers.
  end.abort();
  await silent.finished;
});

Deno.test("a phone that pairs again is the same device with a new secret; the old secret opens nothing [pair-devices]", async () => {
  await using stack = await makeStack();
  const { name, prompts } = await stack.echo();
  const first = await paired(stack);
  assert.equal(await sent(first, name, "one"), "submitted");
  const { url } = await pairJson(stack);
  const second = await pairScriptedPhone(url, { apiKey: first.apiKey });
  assert.deepEqual([second.deviceId, second.apiKey], [first.deviceId, first.apiKey]);
  assert.equal(await sent(second, name, "two"), "submitted");
  assert.equal(await sent(first, name, "three"), "refused unsealable");
  assert.deepEqual(await prompts(2), ["one", "two"]);
});

Deno.test("a code works only once, even with its secret [sec-claim]", async () => {
  await using stack = await makeStack({ listener: false });
  const { url } = await pairJson(stack);
  await pairScriptedPhone(url);
  await assert.rejects(
    pairScriptedPhone(url),
    (error) => error instanceof RelayError && error.code === "unknown_pairing",
  );
});
