/** The commands with a running relay, listener and agent. */
import assert from "node:assert/strict";
import { newKey } from "../helpers/new_key.ts";
import { runSvc, startSvc } from "../helpers/program.ts";
import type { Ran } from "../helpers/run.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { pairScriptedPhone } from "../helpers/scripted_phone.ts";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { VERSION } from "../../src/protocol/version.ts";

/** Without stderr, where `svc send` reports its progress after a second. */
const outcome = ({ code, stdout }: Ran): [number, string] => [code, stdout];

Deno.test("svc send types the message and prints its outcome [cli-send, con-send, con-send-exit, cli-json]", async () => {
  await using stack = await makeStack();
  const { name, prompts } = await stack.echo();
  const plain = await stack.svc("send", name, "two", "words");
  assert.deepEqual(outcome(plain), [0, "submitted\n"]);
  const json = await stack.svc("send", name, "as json", "--json");
  const { push, receipt } = JSON.parse(json.stdout);
  assert.deepEqual([push.body, push.agentSessionName, receipt.state, receipt.final], [
    "as json",
    name,
    "submitted",
    true,
  ]);
  const piped = await runSvc(stack.sandbox, ["send", name, "-"], { stdin: "from\nstdin\n" });
  assert.equal(piped.code, 0);
  const dashed = await stack.svc("send", name, "--", "--json", "is text");
  assert.equal(dashed.code, 0);
  assert.deepEqual(await prompts(4), ["two words", "as json", "from\nstdin", "--json is text"]);
});

Deno.test("svc send exits 1 for a message that was not typed, and explains why [con-send-exit]", async () => {
  await using stack = await makeStack();
  const { name, prompts } = await stack.echo();
  const refused = await stack.svc("send", name, "!ls");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /refused \(shell_escape\): A message that begins with !/);
  const json = await stack.svc("send", "svc-nobody", "x", "--json", "--device", stack.deviceId);
  assert.equal(json.code, 1);
  assert.equal(JSON.parse(json.stdout).receipt.reason, "no_such_session");
  assert.deepEqual(await prompts(), []);
});

Deno.test("SVC_BASE_URL and SVC_API_KEY are enough for a script [env-base-url, env-api-key]", async () => {
  await using stack = await makeStack();
  const { name } = await stack.echo();
  const env = { SVC_HOME: `${stack.sandbox.root}/empty`, SVC_BASE_URL: stack.url, SVC_API_KEY: stack.apiKey };
  const sent = await runSvc(stack.sandbox, ["send", name, "hello"], { env });
  assert.deepEqual(outcome(sent), [0, "submitted\n"]);
  const wrong = await runSvc(stack.sandbox, ["sessions"], { env: { ...env, SVC_API_KEY: "svc_wrong" } });
  assert.equal(wrong.code, 1);
});

Deno.test("a send-only script key, exported as the README says, does not keep the host's commands from working [env-api-key]", async () => {
  await using stack = await makeStack();
  const { name, prompts } = await stack.echo();
  await pairScriptedPhone(await stack.pairLink());
  const key = await newKey(`${stack.sandbox.svcHome}/server`, ["push:send"]);
  const env = { SVC_API_KEY: key };
  const svc = (...args: string[]): Promise<Ran> => runSvc(stack.sandbox, args, { env });
  for (const args of [["sessions"], ["devices"], ["status"], ["pair", "--json"]]) {
    const { code, stderr } = await svc(...args);
    assert.deepEqual([code, stderr], [0, ""], args.join(" "));
  }
  assert.doesNotMatch((await svc("status")).stdout, /scope/);
  assert.match((await svc("verify")).stdout, /^✓ key: it may read and send pushes$/m);
  assert.deepEqual(outcome(await svc("send", name, "hello")), [0, "submitted\n"]);
  assert.deepEqual(await prompts(1), ["hello"]);
  const alone = await runSvc(stack.sandbox, ["verify"], {
    env: { ...env, SVC_BASE_URL: stack.url, SVC_HOME: `${stack.sandbox.root}/empty` },
  });
  assert.match(alone.stdout, /^✗ key: .* \(the key in SVC_API_KEY\)$/m);
});

Deno.test("svc devices release uses the key in SVC_API_KEY if the host's key lacks admin [role-release]", async () => {
  await using stack = await makeStack();
  const data = `${stack.sandbox.svcHome}/server`;
  const config = `${stack.sandbox.svcHome}/config.json`;
  const plain = await newKey(data, ["push:read", "push:send"]);
  const text = JSON.stringify({ ...JSON.parse(await Deno.readTextFile(config)), apiKey: plain });
  // There is no relay's store in this home, as on a host with a remote relay.
  await Deno.mkdir(`${stack.sandbox.root}/far`, { mode: 0o700 });
  await Deno.writeTextFile(`${stack.sandbox.root}/far/config.json`, text, { mode: 0o600 });
  const release = (env: Record<string, string>): Promise<Ran> =>
    runSvc(stack.sandbox, ["devices", "release", stack.deviceId], {
      env: { SVC_HOME: `${stack.sandbox.root}/far`, ...env },
    });
  assert.equal((await release({})).code, 1);
  const released = await release({ SVC_API_KEY: stack.apiKey });
  assert.equal(released.code, 0, released.stderr);
});

Deno.test("svc sessions is a table, an array for scripts, or names [cli-sessions, con-sessions, tty-sessions]", async () => {
  await using stack = await makeStack();
  const { name } = await stack.echo();
  const [entry, ...others] = await until("the session", async () => {
    const sessions = JSON.parse((await stack.svc("sessions", "--json")).stdout);
    return sessions.length > 0 && sessions;
  });
  assert.deepEqual(others, []);
  assert.deepEqual([entry.name, entry.agent, entry.label], [name, "echo", "proj · Echo"]);
  assert.deepEqual([entry.deviceId, entry.online], [stack.deviceId, true]);
  const table = (await stack.svc("sessions")).stdout.split("\n");
  assert.match(table[0] ?? "", /^SESSION +LABEL +STATE +SINCE +TERMINAL +HOST$/);
  assert.match(table[1] ?? "", new RegExp(`^${name} +proj · Echo +\\w+ +\\d+ \\w+ +- +`));
  assert.equal((await stack.svc("sessions", "--names")).stdout, `${name}\n`);
});

Deno.test("svc status is one screen, and JSON for scripts [cli-status, con-status, tty-status, cli-json]", async () => {
  await using stack = await makeStack();
  await stack.echo();
  const { listener, relay, sessions } = await until("the session", async () => {
    const status = JSON.parse((await stack.svc("status", "--json")).stdout);
    return status.sessions.length > 0 && status;
  });
  assert.deepEqual([listener.pid, listener.version, listener.connected], [stack.listener.pid, VERSION, true]);
  assert.deepEqual([relay.reachable, relay.version, sessions.length], [true, VERSION, 1]);
  const lines = (await stack.svc("status")).stdout.split("\n");
  assert.ok(lines.length < 24);
  assert.match(
    lines[0] ?? "",
    new RegExp(`^Listener +v${VERSION}, process ${stack.listener.pid} .*connected to ws://`),
  );
  assert.match(lines[1] ?? "", /^Relay +v\S+ at http:\/\//);
});

Deno.test("svc status shows what is not running [cli-status]", async () => {
  await using sandbox = await makeSandbox();
  const { code, stdout } = await runSvc(sandbox, ["status", "--json"]);
  const { listener, relay } = JSON.parse(stdout);
  assert.deepEqual([code, listener.running, listener.pid, listener.connected], [1, false, null, false]);
  assert.equal(relay.reachable, false);
  assert.match((await runSvc(sandbox, ["status"])).stdout, /^Listener +not running/);
});

Deno.test("svc status tells a listener that cannot be asked from one that is not running [cli-status]", async () => {
  await using stack = await makeStack();
  await Deno.remove(`${stack.sandbox.svcHome}/listener.sock`);
  const { code, stdout } = await stack.svc("status");
  assert.equal(code, 1);
  assert.match(stdout, /^Listener +running, but it does not answer\. Run: svc listener --restart$/m);
});

Deno.test("svc listener prints what it logs; svc logs shows the log, and follows it with -f [cmd-listener, cli-logs, ls-audit-shown]", async () => {
  await using stack = await makeStack();
  const { name } = await stack.echo();
  await stack.svc("send", name, "hello");
  // The listener logs a message's end when it reports it to the relay, and writes its files a moment later.
  await stack.listener.line(/submitted/);
  const shown = stack.listener.output().split("\n");
  assert.match(shown[0] ?? "", /^\[\S+\] svc listener starting — v\S+ — ws:\/\//);
  const inLogs = (...args: string[]): Promise<string[]> =>
    until("the message's line in the log", async () => {
      const { stdout } = await stack.svc("logs", ...args);
      return stdout.includes("submitted") && stdout.split("\n");
    });
  assert.deepEqual((await inLogs("-n", "1000")).slice(0, 3), shown.slice(0, 3));
  const [last] = await inLogs("--audit", "-n", "1");
  assert.match(last ?? "", new RegExp(`${name} %\\d+ submitted — 5 characters [0-9a-f]{12} from `));
  const following = startSvc(stack.sandbox, ["logs", "-f", "-n", "0"]);
  const found = following.line(/submitted/);
  await until("its tail", async () => {
    await stack.svc("send", name, "again");
    return following.output() !== "";
  });
  await found;
  following.kill("SIGINT");
  await following.exited;
});

Deno.test("svc verify prints a list of checks and a final sentence, and exits 0 when all pass [cmd-verify, tty-verify, cli-json]", async () => {
  await using stack = await makeStack();
  await stack.echo();
  const { code, stdout } = await stack.svc("verify");
  assert.equal(code, 0, stdout);
  const checks = stdout.split("\n").filter((line) => line.startsWith("✓"));
  assert.ok(checks.length >= 8, stdout);
  assert.match(
    stdout,
    /All is well on this machine\. Only this machine can open the relay at http:\/\/127\.0\.0\.1:\d+: a phone needs/,
  );
  const findings = JSON.parse((await stack.svc("verify", "--json")).stdout);
  assert.ok(findings.every(({ mark }: { mark: string }) => mark === "ok"), JSON.stringify(findings));
});

Deno.test("svc verify warns while SVC_WS_URL is set, and fixes and reports loose file modes [cmd-verify, env-ws-url-warn, sec-modes-mended]", async () => {
  await using stack = await makeStack();
  const config = `${stack.sandbox.svcHome}/config.json`;
  await Deno.chmod(config, 0o644);
  const env = { SVC_WS_URL: "ws://old/ws" };
  const { code, stdout } = await runSvc(stack.sandbox, ["verify"], { env });
  assert.match(
    stdout,
    /^! SVC_WS_URL: SVC_WS_URL is set to "ws:\/\/old\/ws" and has no effect.*\n +→ put wsUrl into/m,
  );
  assert.match(stdout, new RegExp(`^! home: others could read ${config}; fixed`, "m"));
  assert.equal((await Deno.stat(config)).mode! & 0o777, 0o600);
  assert.equal(code, 0, "warnings are no faults");
});

Deno.test("svc verify names each fault with its fix, and exits 1 [cmd-verify, tty-verify]", async () => {
  await using stack = await makeStack();
  const config = `${stack.sandbox.svcHome}/config.json`;
  const text = await Deno.readTextFile(config);
  await Deno.writeTextFile(config, text.replace(stack.apiKey, "svc_wrong"));
  const wrong = await stack.svc("verify");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /^✗ key: .*\n +→ make one: svc keys create/m);
  assert.match(wrong.stdout, /^✗ relay, WebSocket: /m);
  await Deno.writeTextFile(config, "{");
  const broken = await stack.svc("verify");
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, /^✗ configuration: .*line 1, column 2 is not JSON/m);
  assert.match(broken.stdout, /\d of \d+ checks failed/);
});
