/** The encryption floor starts with the first pairing; scripts pair too, and the host seals the messages that it sends. */
import assert from "node:assert/strict";
import { outcomeOf } from "../helpers/outcome_of.ts";
import { runSvc } from "../helpers/program.ts";
import { pairScriptedPhone } from "../helpers/scripted_phone.ts";
import { until } from "../helpers/until.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";

const plain = async (stack: Stack, session: string, body: string): Promise<string> => {
  const { receipt } = await stack.send(session, body);
  return outcomeOf(receipt);
};

Deno.test("after the first pairing plain messages are refused with a hint, svc send on the host seals, and the config lowers the floor [seal-floor-auto, send-seals]", async () => {
  await using stack = await makeStack();
  const { name, prompts } = await stack.echo();
  assert.equal(await plain(stack, name, "before"), "submitted");
  const phone = await pairScriptedPhone(await stack.pairLink());
  assert.equal((await phone.send(name, "from the phone")).receipt.state, "submitted");
  assert.equal(await plain(stack, name, "plain"), "refused sealed_required");
  const far = { SVC_HOME: `${stack.sandbox.root}/far`, SVC_API_KEY: stack.apiKey, SVC_BASE_URL: stack.url };
  const refused = await runSvc(stack.sandbox, ["send", "--json", name, "from afar"], { env: far });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /svc pair --script FILE.*svc send --as FILE/);
  for (const text of ["host 1", "host 2"]) {
    const sent = await stack.svc("send", name, text);
    assert.deepEqual([sent.code, sent.stdout.trim()], [0, "submitted"], sent.stderr);
  }
  const path = `${stack.sandbox.svcHome}/config.json`;
  const config = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...config, requireEncryption: "off" }));
  await stack.restartListener();
  assert.equal(await plain(stack, name, "lowered"), "submitted");
  assert.deepEqual(await prompts(5), ["before", "from the phone", "host 1", "host 2", "lowered"]);
});

Deno.test("svc send on a paired host reveals no text to a lying relay, and accepts only receipts that the host has proven [send-seals, hostile-relay]", async () => {
  await using stack = await makeStack();
  const { name } = await stack.echo();
  await pairScriptedPhone(await stack.pairLink());
  const devices = await until("the session", async () => {
    const listed = (await stack.api.sessions()).devices;
    return listed.some(({ sessions }) => sessions.length > 0) && listed;
  });
  const posted: string[] = [];
  let sessions = (): Response => Response.json({ devices: [] });
  let state = "submitted";
  const push = {
    type: "agent.command",
    from: "key_1",
    createdAt: Date.now(),
    expiresAt: Date.now() + 60_000,
  };
  await using relay = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/sessions") return sessions();
    if (request.method === "GET") {
      const id = pathname.replace("/pushes/", "");
      const receipt = { state, final: true, at: { [state]: Date.now() } };
      return Response.json({ push: { id, ...push }, receipt });
    }
    posted.push(await request.text());
    const { id } = JSON.parse(posted.at(-1) ?? "");
    return Response.json({ id, state: "queued", expiresAt: push.expiresAt }, { status: 202 });
  });
  const env = { SVC_BASE_URL: `http://127.0.0.1:${relay.addr.port}` };
  const send = () => runSvc(stack.sandbox, ["send", name, "the secret plan"], { env });
  const unproven = await send();
  assert.deepEqual([unproven.code, posted.length], [1, 1], unproven.stderr);
  assert.match(unproven.stderr, /Only the relay says so/);
  state = "withdrawn";
  const withdrawn = await send();
  assert.deepEqual([withdrawn.code, posted.splice(1).length], [1, 1], withdrawn.stderr);
  assert.doesNotMatch(
    withdrawn.stderr,
    /Only the relay says so/,
    "a user has taken it back: the host has not had it",
  );
  const elsewhere = devices.map((device) => ({ ...device, deviceId: "dev_listener_99999999" }));
  sessions = () => Response.json({ devices: elsewhere });
  const named = await send();
  assert.deepEqual([named.code !== 0, posted.length], [true, 1], named.stderr);
  assert.match(named.stderr, /dev_listener_99999999.*--device/);
  sessions = () => new Response("no", { status: 500 });
  assert.deepEqual([(await send()).code, posted.length], [1, 1]);
  assert.ok(posted.every((text) => !text.includes("secret plan")), posted.join());
});

Deno.test("the floor stays when the last phone is revoked [seal-floor-auto]", async () => {
  await using stack = await makeStack();
  const { name } = await stack.echo();
  const phone = await pairScriptedPhone(await stack.pairLink());
  assert.equal((await phone.send(name, "hello")).receipt.state, "submitted");
  assert.equal((await stack.svc("devices", "revoke", phone.deviceId)).code, 0);
  assert.equal(await plain(stack, name, "plain"), "refused sealed_required");
});

Deno.test("a script pairs into a separate file and sends sealed from another machine; with a copied file it must pair again [pair-script, replay-window]", async () => {
  await using stack = await makeStack();
  const { name, prompts } = await stack.echo();
  const nowhere = await stack.svc("pair", "--script", `${stack.sandbox.root}/none/ci.json`);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /none\/ci\.json.*Name a file in a folder/);
  assert.equal(await plain(stack, name, "zero"), "submitted", "nothing was paired");
  const file = `${stack.sandbox.root}/my ci.json`;
  const made = await stack.svc("pair", "--script", file);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /: svc send --as '\/.*\/my ci\.json' SESSION TEXT\n.*sealed messages only/s);
  assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
  const again = await stack.svc("pair", "--script", file);
  assert.match(again.stderr, /it exists/);
  assert.equal(await plain(stack, name, "plain"), "refused sealed_required");
  const env = { SVC_HOME: `${stack.sandbox.root}/far` };
  const send = (...args: string[]) => runSvc(stack.sandbox, ["send", ...args], { env });
  const copy = await Deno.readTextFile(file);
  const first = await send("--as", file, name, "one");
  assert.deepEqual([first.code, first.stdout.trim()], [0, "submitted"], first.stderr);
  const named = { env: { ...env, SVC_PAIRING: file } };
  assert.equal((await runSvc(stack.sandbox, ["send", name, "two"], named)).code, 0);
  const both = await Promise.all(["three", "four"].map((text) => send("--as", file, name, text)));
  assert.deepEqual(both.map(({ code }) => code), [0, 0], "two at once share the file");
  await Deno.writeTextFile(file, copy);
  const used = await send("--as", file, name, "again");
  assert.equal(used.code, 1);
  assert.match(used.stderr, /counter_used.*pair the script again/);
  await Deno.chmod(file, 0o644);
  assert.match(
    (await send("--as", file, name, "open")).stderr,
    /others can read it\. Run: chmod 600 '\/.*\/my ci\.json'$/m,
  );
  assert.deepEqual((await prompts(5)).sort(), ["four", "one", "three", "two", "zero"]);
});
