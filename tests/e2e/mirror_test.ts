/** A mirror's life cycle: one client for all phones, no effect on the local user, every end reported, every interruption recovered. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import type { TerminalState } from "../../src/phone/terminal_stream.ts";
import { abandonClient } from "../helpers/abandoned_client.ts";
import { attachClient } from "../helpers/attached_client.ts";
import type { MirrorPhone } from "../helpers/mirror_phone.ts";
import { makeMirrorStage, type MirrorStage, untilEqual } from "../helpers/mirror_stage.ts";
import { until } from "../helpers/until.ts";

/** Returns the mirrors' clients; the listener's client for typing gets no output. */
const clients = async ({ tmux }: MirrorStage): Promise<string[]> =>
  (await tmux("list-clients", "-F", "#{client_session} #{client_flags}")).split("\n").filter((line) =>
    line !== "" && !line.includes("no-output")
  );

const sizeOf = ({ tmux }: MirrorStage, session: string): Promise<string> =>
  tmux("display-message", "-p", "-t", `=${session}:`, "#{window_width}x#{window_height}");

/** Returns the reasons for which the mirror has ended so far. */
const ends = ({ states }: MirrorPhone): string[] =>
  states.flatMap((state: TerminalState) => state.kind === "ended" ? [state.reason] : []);

Deno.test("mirror: two phones, one client, which neither resizes nor counts as attached, and ends with the listener [ux-no-resize, ev-pane-open]", async () => {
  await using stage = await makeMirrorStage();
  const session = await stage.start(["cat"], { cols: 120, rows: 35 });
  const [one, two] = [await stage.watch(session), await stage.watch(session)];
  await stage.keys(session, "both see this");
  for (const phone of [one, two]) await phone.shows("both see this");
  assert.deepEqual(await clients(stage), [`${session} attached,focused,control-mode,ignore-size,UTF-8`]);
  assert.equal(await sizeOf(stage, session), "120x35\n");
  const listed = await until("the session in the inventory", async () => {
    const { devices } = await stage.stack.api.sessions();
    return devices.flatMap(({ sessions }) => sessions).find(({ name }) => name === session);
  });
  assert.equal(listed.attached, false);
  one[Symbol.dispose]();
  await stage.keys(session, "Enter", "still here");
  await two.shows("still here");
  assert.equal((await clients(stage)).length, 1);
  two[Symbol.dispose]();
  stage.stack.listener.kill("SIGTERM");
  await stage.stack.listener.exited;
  assert.deepEqual(await clients(stage), []);
});

Deno.test("mirror: renamed, killed, server restarted: reported at once, and mirrored again when it is back [ev-pane-closed, ux-resume]", async () => {
  await using stage = await makeMirrorStage();
  // Keeps the tmux server running after the mirrored session ends.
  await stage.start(["cat"]);
  const session = await stage.start(["cat"]);
  const phone = await stage.watch(session);
  const ended = async (what: string, act: () => Promise<unknown>): Promise<string> => {
    const before = ends(phone).length;
    const begun = performance.now();
    const acting = act();
    await until(`the end after ${what}`, () => ends(phone).length > before);
    say(`${what}: reported after ${Math.round(performance.now() - begun)} ms`);
    await acting;
    return ends(phone)[before] ?? "";
  };
  const back = async (text: string): Promise<void> => {
    await phone.live();
    await stage.keys(session, text);
    await phone.shows(text);
  };
  assert.equal(
    await ended("renamed", () => stage.tmux("rename-session", "-t", `=${session}`, "other")),
    "session_renamed",
  );
  await until("the missing name to be reported", () => ends(phone).includes("no_such_session"));
  await stage.tmux("rename-session", "-t", "=other", session);
  await back("renamed back");

  const start = (): Promise<string> =>
    stage.tmux("-f", "/dev/null", "new-session", "-d", "-s", session, "cat");
  // A repaint may find that the pane is gone before the client is notified of the session's end.
  const gone = /^(mirror_lost|pane_gone)$/;
  assert.match(await ended("killed", () => stage.tmux("kill-session", "-t", `=${session}`)), gone);
  await start();
  await back("begun again");

  assert.match(await ended("tmux restarted", () => stage.tmux("kill-server")), gone);
  await until("the old server to be gone", () => stage.tmux("list-sessions").then(() => false, () => true));
  await until("another server", () => start().then(() => true, () => false));
  await back("another server");
});

Deno.test("mirror: a pane or window that is moved to another session is no longer shown as this session's, and takes no keys", async (t) => {
  await using stage = await makeMirrorStage();
  await stage.tmux("-f", "/dev/null", "new-session", "-d", "-s", "elsewhere", "cat");
  const idOf = async (target: string): Promise<string> =>
    (await stage.tmux("display-message", "-p", "-t", target, "#{pane_id}")).trim();
  const moves: Record<string, (pane: string) => string[]> = {
    "join-pane": (pane) => ["join-pane", "-d", "-s", pane, "-t", "=elsewhere:0"],
    "break-pane": (pane) => ["break-pane", "-d", "-s", pane, "-t", "=elsewhere:8"],
    "move-window": (pane) => ["move-window", "-d", "-s", pane, "-t", "=elsewhere:7"],
  };
  for (const [name, move] of Object.entries(moves)) {
    await t.step(name, async () => {
      const session = await stage.start(["cat"]);
      using phone = await stage.watch(session);
      await stage.keys(session, "before");
      await phone.shows("before");
      // tmux before 3.7 crashes when another pane becomes current while the listener's own client is half attached.
      await until("the listener's own client", async () => {
        return (await stage.tmux("list-clients", "-F", "x")).trim().split("\n").length >= 2;
      });
      const pane = await idOf(`=${session}:`);
      // Keeps the session alive without the pane.
      if (name === "break-pane") await stage.tmux("split-window", "-d", "-t", pane, "cat");
      else await stage.tmux("new-window", "-d", "-t", `=${session}:`, "cat");
      await stage.tmux(...move(pane));
      await stage.stack.sandbox.executed(session);
      await until("the end to be reported", () => ends(phone).includes("pane_gone"));
      await phone.live();
      phone.type({ type: "text", text: "after" });
      await phone.shows("after");
      assert.equal(phone.text().includes("before"), false, "what is left of the session is shown");
      assert.equal((await stage.tmux("capture-pane", "-p", "-t", pane)).trim(), "before", "and typed into");
    });
  }
});

Deno.test("mirror: it comes back after a user has taken the session over", async () => {
  await using stage = await makeMirrorStage();
  const session = await stage.start(["cat"]);
  const phone = await stage.watch(session);
  await stage.tmux("detach-client", "-s", `=${session}`);
  await until("the mirror to be lost", () => ends(phone).includes("mirror_lost"));
  await phone.live();
  await stage.keys(session, "still mirrored");
  await phone.shows("still mirrored");
});

Deno.test("mirror: it comes back after a restart of relay and listener [ux-resume]", async () => {
  await using stage = await makeMirrorStage();
  const { stack } = stage;
  const session = await stage.start(["cat"]);
  const phone = await stage.watch(session);
  await stage.keys(session, "first");
  await phone.shows("first");
  stack.listener.kill("SIGKILL");
  await stack.listener.exited;
  await until("the listener's end to be reported", () => ends(phone).length > 0);
  await stage.keys(session, " second");
  await stack.startListener();
  await phone.shows("first second");
  stack.relay.kill("SIGKILL");
  await stack.relay.exited;
  await stage.keys(session, " third");
  await stack.startRelay();
  phone.link.reconnectNow();
  await phone.shows("first second third");
  await untilEqual(stage, { phone, session, what: "after both" });
  let left: string[] = [];
  await until("one client", async () => (left = await clients(stage)).length === 1).catch((error) => {
    throw new Error(`${error.message}\n${left.join("\n")}\n${stack.listener.output()}`);
  });
});

Deno.test("mirror: a new listener ends the client that a killed one left in tmux [ux-resume]", async () => {
  await using stage = await makeMirrorStage();
  const { stack } = stage;
  const session = await stage.start(["sh", "-c", "while :; do echo line; sleep 0.01; done"]);
  const lines = async (): Promise<number> =>
    Number(await stage.tmux("display-message", "-p", "-t", `=${session}:`, "#{history_size}"));
  // On a busy machine tmux may notice that a client has ended.
  await until("a client that tmux keeps", async () => {
    const kill = await abandonClient(stack.sandbox, session);
    const before = await lines();
    await until("output that nobody reads", async () => await lines() > before + 20);
    await kill();
    return (await clients(stage)).length === 1;
  });
  await stack.restartListener();
  await until("no client", async () => (await clients(stage)).length === 0);
});

Deno.test("mirror: tmux survives a session that ends while the listener is stalled and reads none of its output [ux-tmux-stays]", async () => {
  await using stage = await makeMirrorStage();
  const kept = await stage.start(["cat"]);
  // Less than a flood, which would make the listener pause it.
  const lines = "while :; do printf '%1000s\\n' x; sleep 0.002; done";
  const session = await stage.start(["sh", "-c", lines]);
  using phone = await stage.watch(session);
  await phone.live();
  const printed = async (): Promise<number> =>
    Number(await stage.tmux("display-message", "-p", "-t", `=${session}:`, "#{history_bytes}"));
  const { listener } = stage.stack;
  listener.kill("SIGSTOP");
  try {
    await stage.tmux("clear-history", "-t", `=${session}:`);
    let [last, unchanged] = [0, 0];
    await until("output that fills the listener's pipe, or that tmux no longer reads", async () => {
      const now = await printed();
      unchanged = now === last ? unchanged + 1 : 0;
      last = now;
      return now > 500_000 || unchanged > 40;
    });
    await stage.tmux("kill-session", "-t", `=${session}`);
    // Once a second tmux checks what its clients have subscribed to.
    await stage.tmux("run-shell", "-d", "2", "true");
    await stage.tmux("has-session", "-t", `=${kept}`);
  } finally {
    listener.kill("SIGCONT");
  }
  await until("the end", () => ends(phone).length > 0);
});

Deno.test("mirror: a session that cannot be mirrored is refused, with the reason [ev-pane-closed]", async () => {
  await using stage = await makeMirrorStage();
  const { stack } = stage;
  const session = await stage.start(["cat"]);
  using _client = await attachClient(stack.sandbox, { session, cols: 100, rows: 31 });
  await stage.tmux("set-option", "-g", "destroy-unattached", "on");
  const refused = async (name: string, deviceId: string): Promise<string> => {
    const phone = stage.ask(name, { deviceId });
    return await until(`${name} to be refused`, () => ends(phone)[0]);
  };
  assert.equal(await refused("svc-none", stack.deviceId), "no_such_session");
  assert.equal(await refused("svc-none", "dev_listener_none"), "listener_offline");
  assert.equal(await refused(session, stack.deviceId), "destroy_unattached");
  assert.equal((await stage.tmux("list-sessions", "-F", "#{session_name}")).trim(), session, "it lives");
});

Deno.test("mirror: lines above the screen come on request, before a screen that goes on", async () => {
  await using stage = await makeMirrorStage();
  const session = await stage.start(["sh", "-c", "seq 1 500; exec cat"]);
  await until("the lines in the pane", async () => /^500$/m.test(await stage.stack.sandbox.screen(session)));
  const phone = await stage.watch(session);
  await phone.shows("500");
  assert.equal(phone.terminal.buffer.active.baseY, 0, "only on request");
  phone.scrollback(300);
  const line = (y: number): string | undefined =>
    phone.terminal.buffer.active.getLine(y)?.translateToString(true);
  await until("the lines above", () => phone.terminal.buffer.active.baseY === 300);
  const first = Number(line(0));
  assert.deepEqual([line(1), line(299)], [String(first + 1), String(first + 299)]);
  await stage.keys(session, "on");
  await untilEqual(stage, { phone, session, what: "with lines above" });
});

Deno.test("mirror: a respawned pane is shown with its new content", async () => {
  await using stage = await makeMirrorStage();
  const session = await stage.start(["sh", "-c", "seq 1 5; exec cat"]);
  const phone = await stage.watch(session);
  await phone.shows("5");
  await stage.tmux("respawn-pane", "-k", "-t", `=${session}:`, "exec sleep 1000");
  await untilEqual(stage, { phone, session, what: "after the respawn" });
});

Deno.test("mirror: the window fits the phone on request, and gets the local terminal's size back when the phone leaves [ux-no-resize]", async (t) => {
  await using stage = await makeMirrorStage();
  const { stack } = stage;
  const session = await stage.start(["cat"], { cols: 120, rows: 35 });
  const back = (): Promise<unknown> =>
    until("the local terminal's size", async () => await sizeOf(stage, session) === "120x35\n");
  const fitted = async (): Promise<MirrorPhone> => {
    const phone = await stage.watch(session);
    phone.type({ type: "fit", cols: 44, rows: 20 });
    await until("the phone's size", () => phone.terminal.cols === 44);
    assert.equal(await sizeOf(stage, session), "44x20\n");
    await until("the phone's status", () => phone.statuses.some(({ fit }) => fit === "on"));
    return phone;
  };
  const option = (): Promise<string> =>
    stage.tmux("show-options", "-wv", "-t", `=${session}:`, "window-size");
  await t.step("the phone asks for it", async () => {
    const phone = await fitted();
    phone.type({ type: "unfit" });
    await until("the local terminal's size on the phone", () => phone.terminal.cols === 120);
    await back();
    assert.equal(await option(), "", "and follows the local terminal as before");
    phone[Symbol.dispose]();
  });
  await t.step("the phone leaves", async () => {
    (await fitted())[Symbol.dispose]();
    await back();
  });
  await t.step("the local user has given the window another size", async () => {
    const phone = await fitted();
    await stage.tmux("resize-window", "-t", `=${session}:`, "-x", "90", "-y", "30");
    phone[Symbol.dispose]();
    const format = "#{window_width}x#{window_height} [#{@svc_fit}]";
    const sizeAndFit = () => stage.tmux("display-message", "-p", "-t", `=${session}:`, format);
    await until("the end of the fit", async () => await sizeAndFit() === "90x30 []\n");
    const again = await fitted();
    await stage.tmux("set-option", "-w", "-t", `=${session}:`, "window-size", "largest");
    again[Symbol.dispose]();
    await until("the end of the fit", async () => / \[\]$/m.test(await sizeAndFit()));
    assert.equal(await option(), "largest\n");
    await stage.tmux("resize-window", "-t", `=${session}:`, "-x", "120", "-y", "35");
    await stage.tmux("set-option", "-wu", "-t", `=${session}:`, "window-size");
  });
  await t.step("the link is cut", async () => {
    const phone = await fitted();
    phone.link.close();
    await back();
  });
  await t.step("another phone still watches", async () => {
    const other = await stage.watch(session);
    const phone = await fitted();
    await until("the other phone's size", () => other.terminal.cols === 44);
    phone[Symbol.dispose]();
    await until("the local terminal's size on the other phone", () => other.terminal.cols === 120);
    other[Symbol.dispose]();
  });
  await t.step("another phone takes the window over", async () => {
    const first = await fitted();
    const second = await stage.watch(session);
    second.type({ type: "fit", cols: 50, rows: 18 });
    await until("the second phone's size", () => first.terminal.cols === 50);
    await until("the first phone's status", () => first.statuses.findLast(({ fit }) => fit)?.fit === "off");
    first[Symbol.dispose]();
    second.type({ type: "text", text: "x" });
    await until("the key, after the first has left", async () => {
      return /x/.test(await stack.sandbox.screen(session));
    });
    assert.equal(await sizeOf(stage, session), "50x18\n");
    second[Symbol.dispose]();
    await back();
  });
  await t.step("the listener is killed", async () => {
    const phone = await fitted();
    phone[Symbol.dispose]();
    await back();
    await fitted();
    stack.listener.kill("SIGKILL");
    await stack.listener.exited;
    assert.equal(await sizeOf(stage, session), "44x20\n");
    await stack.startListener();
    await back();
  });
  await t.step("a window of two panes is left alone", async () => {
    const phone = await stage.watch(session);
    await stage.tmux("split-window", "-t", `=${session}:`, "cat");
    phone.type({ type: "fit", cols: 44, rows: 20 });
    await until("the refusal", () => phone.statuses.some(({ fit }) => fit === "refused"));
    assert.equal(await sizeOf(stage, session), "120x35\n");
  });
});

Deno.test("mirror: a fitted window gets its size back even if the phone's pane has left it [ux-no-resize]", async (t) => {
  await using stage = await makeMirrorStage();
  await stage.tmux("-f", "/dev/null", "new-session", "-d", "-s", "elsewhere", "cat");
  const moves: Record<string, (pane: string) => string[]> = {
    "break-pane": (pane) => ["break-pane", "-d", "-s", pane],
    "join-pane": (pane) => ["join-pane", "-d", "-s", pane, "-t", "=elsewhere:0"],
  };
  for (const [name, move] of Object.entries(moves)) {
    await t.step(name, async () => {
      const session = await stage.start(["cat"], { cols: 120, rows: 35 });
      const phone = await stage.watch(session);
      phone.type({ type: "fit", cols: 44, rows: 20 });
      await until("the phone's size", () => phone.terminal.cols === 44);
      await until("the phone's status", () => phone.statuses.some(({ fit }) => fit === "on"));
      const ids = await stage.tmux("display-message", "-p", "-t", `=${session}:`, "#{window_id} #{pane_id}");
      const [window = "", pane = ""] = ids.trim().split(" ");
      await stage.tmux("split-window", "-d", "-t", pane, "cat");
      await stage.tmux(...move(pane));
      phone[Symbol.dispose]();
      const format = "#{window_width}x#{window_height} [#{@svc_fit}]";
      await until(
        "the local terminal's size",
        async () => await stage.tmux("display-message", "-p", "-t", window, format) === "120x35 []\n",
      );
      assert.equal(await stage.tmux("show-options", "-wv", "-t", window, "window-size"), "");
    });
  }
});

Deno.test("mirror: a phone that stops reading neither grows memory nor slows the pane, and is right afterwards [perf-flood, ev-pane-credit]", async () => {
  await using stage = await makeMirrorStage();
  const { stack } = stage;
  const session = await stage.start(["sh", "-c", "read go; seq 1 600000; echo done; exec cat"]);
  const phone = await stage.watch(session);
  const memory = (): Promise<number[]> =>
    Promise.all([stack.relay.pid, stack.listener.pid].map(residentBytes));
  phone.freeze();
  const before = await memory();
  await stage.keys(session, "Enter");
  await until(
    "the program to be done",
    async () => /^done$/m.test(await stack.sandbox.screen(session)),
  );
  const grown = (await memory()).map((bytes, at) => (bytes - (before[at] ?? 0)) / 1_048_576);
  say(`phone that does not read: relay +${grown[0]?.toFixed(1)} MB, listener +${grown[1]?.toFixed(1)} MB`);
  assert.ok(grown.every((megabytes) => megabytes < 32), grown.join());
  phone.thaw();
  await untilEqual(stage, { phone, session, what: "once it reads again" });
});

async function residentBytes(pid: number): Promise<number> {
  const [, pages] = (await Deno.readTextFile(`/proc/${pid}/statm`)).split(" ");
  return Number(pages) * 4_096;
}
