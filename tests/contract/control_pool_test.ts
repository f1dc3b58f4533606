/** Control clients of a real tmux stay attached while they are used, and are detached after an idle minute. */
import assert from "node:assert/strict";
import { runtime } from "../../src/runtime/deno.ts";
import { verbs } from "../../src/tmux/argv.ts";
import { runTyping, typingRequests } from "../../src/listener/inject/guard.ts";
import { CONTROL_IDLE_MS, ControlPool } from "../../src/tmux/control_client.ts";
import { captureScreens } from "../../src/tmux/sessions.ts";
import { spawningServer } from "../../src/tmux/server.ts";
import { FakeClock } from "../helpers/fake_clock.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

Deno.test("a message that is held for minutes keeps its control client; a minute after the last use no client is attached [inj-dialog]", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.newSession("svc-a", ["cat"]);
  const attached = async (): Promise<number> => (await clientsOf(sandbox)).length;
  const clock = new FakeClock();
  const pool = new ControlPool(runtime.commands, { clock });
  const held = pool.get(sandbox.tmuxSocket, "svc-a");
  for (let look = 0; look < 5; look++) {
    assert.equal(await held.run(verbs.printPlain("still there")), "still there");
    clock.advance(CONTROL_IDLE_MS - 1);
  }
  assert.equal(await attached(), 1);
  clock.advance(1);
  await until("nobody attached", async () => (await attached()) === 0);
  await pool.close();
});

/** Returns the sessions that clients are attached to. */
async function clientsOf(sandbox: Sandbox): Promise<string[]> {
  const printed = await sandbox.tmux("list-clients", "-F", "#{client_session}");
  return printed.split("\n").filter((line) => line !== "").sort();
}

Deno.test("a held server keeps its control client after an idle minute, and gets another when that one ends; a released server has none a minute later [inj-client-held]", async () => {
  await using sandbox = await makeSandbox();
  for (const name of ["svc-a", "svc-b"]) await sandbox.newSession(name, ["cat"]);
  const clock = new FakeClock();
  const pool = new ControlPool(runtime.commands, { clock });
  const { tmuxSocket: socket } = sandbox;
  const held = [{ socket, session: "svc-a" }];
  pool.hold(held, { attach: false });
  assert.equal(pool.open(socket), undefined);
  pool.hold(held, { attach: true });
  clock.advance(2 * CONTROL_IDLE_MS);
  const first = pool.get(socket, "svc-b");
  assert.equal(await first.run(verbs.printPlain("still there")), "still there");
  assert.deepEqual(await clientsOf(sandbox), ["svc-a"]);
  await sandbox.tmux("detach-client", "-s", "=svc-a");
  await until("the end of the client", () => pool.open(socket) === undefined);
  assert.equal(await first.run(verbs.printPlain("another")), "another");
  assert.deepEqual(await clientsOf(sandbox), ["svc-b"]);
  pool.hold([], { attach: true });
  clock.advance(CONTROL_IDLE_MS);
  await until("nobody attached", async () => (await clientsOf(sandbox)).length === 0);
  await pool.close();
});

Deno.test("a request runs without a control client if the session has ended or has another name [inj-client-held]", async () => {
  await using sandbox = await makeSandbox();
  for (const name of ["svc-a", "svc-b"]) await sandbox.newSession(name, ["cat"]);
  const pool = new ControlPool(runtime.commands, { clock: new FakeClock() });
  const server = pool.get(sandbox.tmuxSocket, "svc-a");
  await sandbox.tmux("rename-session", "-t", "=svc-a", "svc-c");
  assert.equal(await server.run(verbs.print("=svc-c:", "#{session_name}")), "svc-c");
  await sandbox.tmux("kill-session", "-t", "=svc-c");
  await assert.rejects(server.run(verbs.captureScreen("=svc-c:")), /can't find session: svc-c/);
  await pool.close();
});

Deno.test("a control client and a process capture the same screens, to the last line [ls-state-watched]", async () => {
  await using sandbox = await makeSandbox();
  const panes: string[] = [];
  for (const [name, text] of [["svc-a", "first"], ["svc-b", "second\n  footer"]] as const) {
    const command = ["sh", "-c", `printf '%s' "${text}"; exec cat`];
    const size = ["-x", "40", "-y", "4"];
    await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", name, ...size, "--", ...command);
    panes.push((await sandbox.tmux("display-message", "-p", "-t", `=${name}:`, "#{pane_id}")).trim());
  }
  const pool = new ControlPool(runtime.commands, { clock: new FakeClock() });
  const controlled = pool.get(sandbox.tmuxSocket, "svc-a");
  const spawned = spawningServer(runtime.commands, sandbox.tmuxSocket);
  await until("what both panes print", async () => {
    const screens = await captureScreens(spawned, panes);
    return screens.get(panes[0]!)?.lines[0] === "first" && screens.get(panes[1]!)?.lines[1] === "  footer";
  });
  for (const command of [verbs.printPlain("one line"), ...panes.map((pane) => verbs.captureScreen(pane))]) {
    assert.equal(await controlled.run(command), await spawned.run(command));
  }
  const screens = await captureScreens(controlled, panes);
  assert.deepEqual(screens, await captureScreens(spawned, panes));
  const { lines, cursor } = screens.get(panes[1]!) ?? {};
  assert.deepEqual(lines, ["second", "  footer", "", ""]);
  assert.deepEqual(cursor, { x: "  footer".length, y: 1, visible: true });
  await pool.close();
});

Deno.test("a process captures the screens of 200 sessions at once, and stops at the first command that fails [ls-one-call]", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.newSession("svc-a", ["sh", "-c", "printf 'a screen'; exec cat"]);
  await until("the screen", async () => (await sandbox.screen("svc-a")).includes("a screen"));
  const server = spawningServer(runtime.commands, sandbox.tmuxSocket);
  const panes = Array.from({ length: 200 }, () => "%0");
  assert.deepEqual((await captureScreens(server, panes)).get("%0")?.lines.slice(0, 1), ["a screen"]);
  const texts = Array.from({ length: 200 }, (_, index) => `${"x".repeat(100)} ; #{x} "$HOME" ${index}`);
  const prints = texts.map((text) => verbs.printPlain(text.replaceAll("#", "##")));
  assert.equal(await server.run(...prints), texts.join("\n"));
  const failing = server.run(...prints, verbs.captureScreen("%99"), verbs.startServer());
  await assert.rejects(failing, /can't find pane: %99/);
});

Deno.test("control pool: a client and a process paste the same, with the bracket marks in the text and those that a program requests [sec-body-literal]", async () => {
  await using sandbox = await makeSandbox();
  const files = { plain: `${sandbox.root}/plain`, asks: `${sandbox.root}/asks` };
  const panes: string[] = [];
  for (const [name, path] of Object.entries(files)) {
    const ask = name === "asks" ? "printf '\\033[?2004h'; " : "";
    await sandbox.newSession(name, ["sh", "-c", `stty raw -echo; ${ask}printf begun; exec cat > ${path}`]);
    await until("the program", async () => (await sandbox.screen(name)).includes("begun"));
    panes.push((await sandbox.tmux("display-message", "-p", "-t", `=${name}:`, "#{pane_id}")).trim());
  }
  const pool = new ControlPool(runtime.commands, { clock: new FakeClock() });
  const text = "\u001b[200~é~\\\t^[\nx\u001b[201~";
  const all = { plain: "", asks: "" };
  for (
    const server of [
      pool.get(sandbox.tmuxSocket, "plain"),
      spawningServer(runtime.commands, sandbox.tmuxSocket),
    ]
  ) {
    for (const pane of panes) {
      for (const marks of [false, true]) {
        await server.run(verbs.appendBuffer("b", text));
        const paste = verbs.pasteBuffer("b", pane, { marks });
        await server.run(verbs.ifFormat(pane, "1", { then: [verbs.leaveModes(pane), paste] }));
      }
    }
    all.plain += text.repeat(2);
    all.asks += `${text}\u001b[200~${text}\u001b[201~`;
  }
  for (const [name, path] of Object.entries(files)) {
    const expected = all[name as keyof typeof all];
    await until(name, async () => (await Deno.readTextFile(path).catch(() => "")).length >= expected.length);
    assert.equal(await Deno.readTextFile(path), expected, name);
  }
  assert.equal(await sandbox.tmux("list-buffers"), "");
  await pool.close();
});

Deno.test("a hook of the user that fails behind what was typed does not make it fail where no control client is attached [inj-user-hooks]", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.newSession("svc-a", ["cat"]);
  const pane = (await sandbox.tmux("display-message", "-p", "-t", "=svc-a:", "#{pane_id}")).trim();
  const server = spawningServer(runtime.commands, sandbox.tmuxSocket);
  const input = { mustSearch: false };
  for (const command of ["send-keys", "paste-buffer"]) {
    await sandbox.tmux("set-hook", "-g", `after-${command}`, "select-pane -t nosuch:");
  }
  for (const method of ["plain", "paste"] as const) {
    for (const [guard, isTyped] of [["1", true], ["0", false]] as const) {
      const requests = typingRequests(pane, { text: `${method} ${guard}`, method, guard });
      for (const fill of requests.fill) await server.run(...fill);
      assert.equal(await runTyping({ server, input }, requests.type), isTyped);
    }
    await until("the text", async () => (await sandbox.screen("svc-a")).includes(`${method} 1`));
    const { type } = typingRequests("%99", { text: "x", method, guard: "1" });
    await assert.rejects(runTyping({ server, input }, type), /can't find pane: %99|no buffer/);
  }
});
