/** The main flow with real processes: a message from a phone is typed exactly once, unchanged, into the right pane. */
import assert from "node:assert/strict";
import { RelayError } from "../../src/client/relay_error.ts";
import { NAUGHTY_BODIES, REFUSED_BODIES } from "../helpers/naughty.ts";
import { encodeFrame } from "../../src/protocol/frames.ts";
import { TinyRelay } from "../contract/tiny_relay.ts";
import { attachClient } from "../helpers/attached_client.ts";
import { startSvc } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

Deno.test("main flow: every body arrives byte for byte at the agent, or is refused by the relay [show-bytes, show-controls, flow-1, spec-type-enter, http-400]", async (t) => {
  await using stack = await makeStack();
  const echo = await stack.echo();
  const expected: string[] = [];
  for (const [name, body] of Object.entries(NAUGHTY_BODIES)) {
    await t.step(name, async () => {
      const { receipt } = await stack.send(echo.name, body);
      assert.deepEqual([receipt.state, receipt.reason], ["submitted", undefined]);
      expected.push(body);
      assert.deepEqual(await echo.prompts(expected.length), expected);
    });
  }
  for (const [name, body] of Object.entries(REFUSED_BODIES)) {
    await t.step(name, async () => {
      const refused = (error: unknown): boolean =>
        error instanceof RelayError && error.code === "invalid_push";
      await assert.rejects(stack.send(echo.name, body), refused);
    });
  }
  assert.deepEqual(await echo.prompts(expected.length), expected);
});

Deno.test("main flow: the receipt has each state with its time [rcpt-path, rcpt-times, spec-late-message, inj-proof]", async () => {
  await using stack = await makeStack();
  const echo = await stack.echo();
  const { receipt } = await stack.send(echo.name, "hello");
  const { queued = NaN, delivered = NaN, typed = NaN, submitted = NaN } = receipt.at;
  assert.ok(queued <= delivered && delivered <= typed && typed <= submitted, JSON.stringify(receipt));
});

Deno.test("main flow: before any message the listener has one control client, in the oldest session that would survive its end [inj-client-held]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  for (const name of ["own", "svc-short"]) await sandbox.newSession(name, ["cat"]);
  using _terminal = await attachClient(sandbox, { session: "svc-short" });
  await sandbox.tmux("set-option", "-t", "=svc-short:", "@svc_agent", "echo");
  await sandbox.tmux("set-option", "-t", "=svc-short:", "destroy-unattached", "on");
  const agent = await stack.echo();
  await stack.echo();
  const format = "#{client_control_mode} #{client_session}";
  await until("a control client", async () => {
    const clients = (await sandbox.tmux("list-clients", "-F", format)).split("\n");
    const controlled = clients.filter((line) => line.startsWith("1 "));
    return controlled.join() === `1 ${agent.name}`;
  });
});

Deno.test("main flow: the same push sent twice is typed once [proto-push-id, inj-never-retype]", async () => {
  await using stack = await makeStack();
  const echo = await stack.echo();
  const id = crypto.randomUUID();
  const first = await stack.send(echo.name, "once", { id });
  const again = await stack.send(echo.name, "once", { id });
  assert.deepEqual(again.push, first.push);
  await stack.send(echo.name, "after");
  assert.deepEqual(await echo.prompts(2), ["once", "after"]);
});

Deno.test("main flow: 31 messages at once: 30 in order, the last refused with the time to wait [lim-rate, err-rate, inj-rate-wait, inj-order]", async () => {
  await using stack = await makeStack();
  const echo = await stack.echo();
  const bodies = Array.from({ length: 31 }, (_, index) => `message ${index}`);
  const ids: string[] = [];
  for (const body of bodies) {
    ids.push((await stack.api.sendPush({ type: "agent.command", agentSessionName: echo.name, body })).id);
  }
  const last = await until("the last receipt", async () => {
    const record = await stack.api.getPush(ids[30] ?? "");
    return record.receipt.final && record;
  });
  const typed = await echo.prompts(last.receipt.state === "refused" ? 30 : 31);
  assert.deepEqual(typed, bodies.slice(0, typed.length));
  // One token returns every two seconds, so a slow machine may get one or two in the meantime.
  if (last.receipt.state === "refused") {
    assert.equal(last.receipt.reason, "rate_limited");
    assert.ok((last.receipt.retryAfterSeconds ?? 0) >= 1);
    assert.equal(typed.length, 30);
  } else {
    assert.equal(typed.length, 31);
  }
});

Deno.test("main flow: a prefix of another session's name is not a session [show-prefix, sec-name-prefix]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  const echo = await stack.echo();
  await sandbox.tmux("rename-session", "-t", `=${echo.name}`, "svc-foo-2");
  const { receipt } = await stack.send("svc-foo", "hello", { targetDeviceId: stack.deviceId });
  assert.deepEqual([receipt.state, receipt.reason], ["refused", "no_such_session"]);
  assert.deepEqual(await echo.prompts(), []);
});

Deno.test("main flow: after an agent has left, its session gets nothing [show-shell, sec-no-shell]", async () => {
  await using stack = await makeStack();
  const echo = await stack.echo();
  await stack.sandbox.tmux("set-option", "-p", "-t", `=${echo.name}:`, "remain-on-exit", "on");
  await stack.sandbox.tmux("send-keys", "-t", `=${echo.name}:`, "C-c", "C-c");
  await until("the agent's end", async () => {
    const dead = await stack.sandbox.tmux("list-panes", "-a", "-F", "#{pane_dead}");
    return dead.trim() === "1";
  });
  const dead = await stack.send(echo.name, "hello");
  assert.equal(dead.receipt.reason, "pane_dead");
  await stack.sandbox.tmux("respawn-pane", "-k", "-t", `=${echo.name}:`, "--", "bash", "--norc");
  const shell = await stack.send(echo.name, "touch reached");
  assert.deepEqual([shell.receipt.state, shell.receipt.reason], ["refused", "shell_in_pane"]);
});

Deno.test("main flow: the log has the specified lines, word for word [log-start, log-reported, log-persisted, ver-written, ls-log-injection, ls-log-connection, sec-logs-clean, ls-audit]", async () => {
  await using stack = await makeStack();
  const echo = await stack.echo();
  const { push } = await stack.send(echo.name, "a secret sentence");
  const { svcHome } = stack.sandbox;
  const version = (await stack.svc("--version")).stdout.trim();
  const time = String.raw`\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\]`;
  // The receipt waits neither for the disk nor for the report of the sessions.
  const log = await until("the lines of the message and of the report", async () => {
    const written = await Deno.readTextFile(`${svcHome}/listener.log`);
    const all = [`inject ${push.id}`, `reported 1 session(s): ${echo.name}`, "persisted 1 session(s)"];
    return all.every((line) => written.includes(line)) && written;
  });
  const [first = "", ...rest] = log.split("\n");
  assert.match(first, new RegExp(`^${time} svc listener starting — v${version} — ${stack.listenerWsUrl}$`));
  const has = (pattern: string): void =>
    assert.ok(rest.some((line) => new RegExp(`^${time} ${pattern}$`).test(line)), log);
  has(String.raw`reported 1 session\(s\): ${echo.name}`);
  has(String.raw`✓ server persisted 1 session\(s\)`);
  has(`connected to ${stack.listenerWsUrl}`);
  has(`inject ${push.id} ${echo.name} submitted \\d+ ms`);
  assert.equal(await Deno.readTextFile(`${svcHome}/listener.version`), `${version}\n`);
  const audit = await until(
    "the audit's line",
    () => Deno.readTextFile(`${svcHome}/audit.jsonl`).catch(() => ""),
  );
  assert.equal(JSON.parse(audit).outcome, "submitted");
  const printed = log + audit + stack.relay.output() + stack.listener.output();
  assert.ok(!printed.includes("secret sentence") && !printed.includes(stack.apiKey));
});

Deno.test("main flow: a rejected report shows its reason in the log [log-rejected, log-reason, err-rejected]", async () => {
  await using sandbox = await makeSandbox();
  const relay = await TinyRelay.start();
  await Deno.mkdir(sandbox.svcHome, { mode: 0o700 });
  const config = JSON.stringify({ apiKey: "svc_x", wsUrl: relay.wsUrl });
  await Deno.writeTextFile(`${sandbox.svcHome}/config.json`, config, { mode: 0o600 });
  const listener = startSvc(sandbox, ["listener"]);
  try {
    await listener.line(/reported 0 session\(s\): $/);
    relay.send(encodeFrame("listener.rejected", { reason: "no device record" }));
    await listener.line(/^! server rejected listener\.sessions: no device record$/);
    const line = /^! server rejected listener\.sessions: no device record$/m;
    const read = (): Promise<string> => Deno.readTextFile(`${sandbox.svcHome}/listener.log`);
    // The line is printed before it is written.
    await until("the line in the log", async () => line.test(await read()));
  } finally {
    listener.kill("SIGTERM");
    await listener.exited;
    await relay.stop();
  }
});
