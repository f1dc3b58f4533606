/** The control socket: both ends over a real socket. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import {
  askDaemon,
  CONTROL_CONNECTIONS_MAX,
  type DaemonStatus,
  type DialogReply,
  type HookReport,
  serveControl,
} from "../../../src/home/control_socket.ts";
import type { DialogCall } from "../../../src/agents/hooks.ts";
import { askPhones, GATE_LIMIT_MS, waitAtGate } from "../../../src/home/notify_daemon.ts";
import type { LineConnection } from "../../../src/runtime/types.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";
import { until } from "../../helpers/until.ts";

const STATUS: DaemonStatus = {
  pid: 1,
  version: "1.0.0",
  startedAt: 5,
  wsUrl: "ws://h",
  connected: true,
  sessions: 2,
  newer: "field",
};
const LIMIT = { timeoutMs: 10_000 };

interface Served {
  path: string;
  stops: number;
  hooks: HookReport[];
  forgotten: string[];
  begun: AbortSignal[];
  /** The waiting dialogs, and how each answer ended. */
  dialogs: { gone: AbortSignal; answer(reply: DialogReply | undefined): void }[];
}

async function withServer(test: (served: Served) => Promise<void>): Promise<void> {
  await using home = await makeTempHome();
  const served: Served = {
    path: home.paths.socket,
    stops: 0,
    hooks: [],
    forgotten: [],
    begun: [],
    dialogs: [],
  };
  const server = await serveControl(runtime.sockets, served.path, {
    status: () => STATUS,
    stop: () => void served.stops++,
    gate: () => Promise.resolve(),
    hook: (report) => void served.hooks.push(report),
    dialog: (_report, { gone }) => new Promise((answer) => void served.dialogs.push({ gone, answer })),
    begin: (begun) => Promise.resolve(void served.begun.push(begun)),
    look: () => {},
    forget: (phone) => void served.forgotten.push(phone),
  });
  try {
    await test(served);
  } finally {
    server.close();
  }
}

const ask = (path: string, request: Parameters<typeof askDaemon>[1]): ReturnType<typeof askDaemon> =>
  askDaemon({ sockets: runtime.sockets, path }, request, LIMIT);

async function connect(path: string): Promise<LineConnection> {
  const connection = await runtime.sockets.connect(path);
  assert.ok(connection);
  return connection;
}

async function nextLine(connection: LineConnection): Promise<string | undefined> {
  const next = await connection.lines[Symbol.asyncIterator]().next();
  return next.done ? undefined : next.value;
}

Deno.test("status, hook, forget and stop are answered; the socket is 0600 [ls-socket]", () =>
  withServer(async (served) => {
    assert.deepEqual(await ask(served.path, { op: "status" }), { ok: true, status: STATUS });
    const report = { event: "Stop", agent: "cc", cwd: "/p", session: "svc-p", extra: 1 };
    assert.deepEqual(await ask(served.path, { op: "hook", report }), { ok: true });
    assert.deepEqual(served.hooks, [report]);
    assert.deepEqual(await ask(served.path, { op: "forget", phone: "dev_phone_a" }), { ok: true });
    assert.deepEqual(served.forgotten, ["dev_phone_a"]);
    assert.deepEqual(await ask(served.path, { op: "stop" }), { ok: true });
    await until("the stop after its answer", () => served.stops === 1);
    assert.equal((await Deno.stat(served.path)).mode! & 0o777, 0o600);
  }));

const DIALOG: DialogCall = {
  isShown: true,
  dialog: { kind: "approval", tool: "Bash", request: "ls", decisions: ["once", "reject"] },
};
const REPORT = { event: "PermissionRequest", agent: "cc", cwd: "/p", session: "svc-p" };

Deno.test("a hook that waits with a dialog gets its answer, or is told to stop waiting [card-local]", () =>
  withServer(async (served) => {
    const socket = { sockets: runtime.sockets, path: served.path };
    const asked = askPhones(socket, { report: REPORT, call: DIALOG });
    const waiting = await until("the dialog", () => served.dialogs[0]);
    const taken: boolean[] = [];
    const answer = { kind: "decided", decision: "reject" } as const;
    waiting.answer({ answer, handedOver: (isTaken) => void taken.push(isTaken) });
    assert.deepEqual(await asked, answer);
    await until("the hand-over", () => taken.length > 0);
    assert.deepEqual(taken, [true]);
    const second = askPhones(socket, { report: REPORT, call: DIALOG });
    (await until("the second dialog", () => served.dialogs[1])).answer(undefined);
    assert.equal(await second, undefined);
    const long = { ...DIALOG, dialog: { ...DIALOG.dialog, request: "x".repeat(8_400_000) } } as DialogCall;
    assert.equal(await askPhones(socket, { report: REPORT, call: long }), undefined);
    assert.equal(served.dialogs.length, 2);
  }));

Deno.test("the daemon notices at once that a waiting hook has ended, and that its answer was not received [card-local]", () =>
  withServer(async (served) => {
    const connection = await connect(served.path);
    await connection.send(JSON.stringify({ op: "dialog", report: REPORT, call: DIALOG }));
    const waiting = await until("the dialog", () => served.dialogs[0]);
    assert.equal(waiting.gone.aborted, false);
    connection.close();
    await until("the end of the wait", () => waiting.gone.aborted);
    const taken: boolean[] = [];
    const answer = { kind: "decided", decision: "once" } as const;
    waiting.answer({ answer, handedOver: (isTaken) => void taken.push(isTaken) });
    await until("the hand-over", () => taken.length > 0);
    assert.deepEqual(taken, [false]);
  }));

Deno.test("a hook without a daemon waits for nothing [card-local]", async () => {
  await using home = await makeTempHome();
  const socket = { sockets: runtime.sockets, path: home.paths.socket };
  assert.equal(await askPhones(socket, { report: REPORT, call: DIALOG }), undefined);
});

Deno.test("a hook with a dialog does not wait for an unresponsive daemon, because some agents show no dialog before the hook ends [card-local, rm-never-breaks]", async () => {
  await using home = await makeTempHome();
  const accepted: LineConnection[] = [];
  const mute = await runtime.sockets.listen(
    home.paths.socket,
    (connection) => void accepted.push(connection),
  );
  const socket = { sockets: runtime.sockets, path: home.paths.socket };
  const request = { ...DIALOG.dialog, request: "x".repeat(4_000_000) } as DialogCall["dialog"];
  for (const call of [DIALOG, { ...DIALOG, dialog: request }]) {
    assert.equal(await askPhones(socket, { report: REPORT, call }, { aliveMs: 20 }), undefined);
  }
  assert.equal(accepted.length, 2);
  mute.close();
});

Deno.test("a hook that waits with a dialog stops waiting once the daemon hangs [card-local, rm-never-breaks]", async () => {
  await using home = await makeTempHome();
  const hangsAfter = 2;
  let statuses = 0;
  const server = await runtime.sockets.listen(home.paths.socket, async (connection) => {
    for await (const line of connection.lines) {
      const isAnswered = JSON.parse(line).op === "status" && ++statuses <= hangsAfter;
      if (isAnswered) await connection.send(JSON.stringify({ ok: true, status: STATUS }));
    }
  });
  const socket = { sockets: runtime.sockets, path: home.paths.socket };
  assert.equal(await askPhones(socket, { report: REPORT, call: DIALOG }, { everyMs: 600 }), undefined);
  assert.ok(statuses > hangsAfter, "it was asked while it responded");
  server.close();
});

Deno.test("one connection takes several requests, junk among them", () =>
  withServer(async ({ path }) => {
    const connection = await connect(path);
    const lines = connection.lines[Symbol.asyncIterator]();
    const junk = ["junk", '{"op":"format"}', '{"op":"hook","report":{}}', "", "[".repeat(1_000)];
    const requests = [...junk.map((text) => [text, "false"]), ['{"op":"status"}', "true"]];
    for (const [sent, expected] of requests) {
      await connection.send(sent ?? "");
      assert.match((await lines.next()).value ?? "", new RegExp(`^\\{"ok":${expected}`));
    }
    connection.close();
  }));

Deno.test("a missing or silent daemon counts as no answer", async () => {
  await using home = await makeTempHome();
  assert.equal(await ask(home.paths.socket, { op: "status" }), undefined);
  const mute = await runtime.sockets.listen(home.paths.socket, () => {});
  const socket = { sockets: runtime.sockets, path: home.paths.socket };
  assert.equal(await askDaemon(socket, { op: "status" }, { timeoutMs: 20 }), undefined);
  mute.close();
});

Deno.test("a session that is about to begin is announced until its wrapper disconnects [wr-many]", () =>
  withServer(async ({ path, begun }) => {
    const connection = await connect(path);
    await connection.send('{"op":"begin"}');
    await nextLine(connection);
    assert.deepEqual(begun.map(({ aborted }) => aborted), [false]);
    connection.close();
    await until("the end of the announcement", () => begun[0]?.aborted);
  }));

Deno.test("an answer of another form counts as none", async () => {
  await using home = await makeTempHome();
  const server = await runtime.sockets.listen(home.paths.socket, (connection) => {
    void connection.send('{"ok":"maybe"}').catch(() => {});
  });
  assert.equal(await ask(home.paths.socket, { op: "status" }), undefined);
  server.close();
});

Deno.test("clients beyond the limit are refused until others disconnect", () =>
  withServer(async ({ path }) => {
    const open = await Promise.all(Array.from({ length: CONTROL_CONNECTIONS_MAX }, () => connect(path)));
    for (const connection of open) await connection.send('{"op":"status"}');
    await Promise.all(open.map(nextLine));
    assert.equal(await ask(path, { op: "status" }), undefined);
    for (const connection of open) connection.close();
    await until("a free place", async () => (await ask(path, { op: "status" }))?.ok);
  }));

const GATE_REPORT: HookReport = { event: "PreToolUse", agent: "cc", cwd: "/p", tool: { step: "before" } };

Deno.test("at the gate: without a daemon the wait ends at once, with one that never answers at the limit, and with one that dies at that moment [gate-waits]", async () => {
  await using home = await makeTempHome();
  const socket = { sockets: runtime.sockets, path: home.paths.socket };
  await waitAtGate(socket, GATE_REPORT);
  const accepted: LineConnection[] = [];
  const mute = await runtime.sockets.listen(
    home.paths.socket,
    (connection) => void accepted.push(connection),
  );
  await waitAtGate(socket, GATE_REPORT, { limitMs: 20 });
  const waiting = waitAtGate(socket, GATE_REPORT);
  await until("the connections", () => accepted.length === 2);
  mute.close();
  await waiting;
  assert.ok(GATE_LIMIT_MS > 1_000);
});

Deno.test("a tool call at the gate does not use setTimeout, which costs Deno more than the rest of the hook", async () => {
  await using home = await makeTempHome();
  const answering = await runtime.sockets.listen(home.paths.socket, async (connection) => {
    for await (const _request of connection.lines) await connection.send('{"ok":true}');
  });
  const { setTimeout } = globalThis;
  let started = 0;
  globalThis.setTimeout = new Proxy(setTimeout, {
    apply(target, self, args) {
      started++;
      return Reflect.apply(target, self, args);
    },
  });
  try {
    await waitAtGate({ sockets: runtime.sockets, path: home.paths.socket }, GATE_REPORT);
  } finally {
    globalThis.setTimeout = setTimeout;
    answering.close();
  }
  assert.equal(started, 0);
});
