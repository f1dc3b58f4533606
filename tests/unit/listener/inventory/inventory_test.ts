/** The inventory with a tmux drawn by a test: how hooks, screens and questions determine a session's state. */
import assert from "node:assert/strict";
import { utf8Length } from "../../../../src/async/encodings.ts";
import { IDLE as RESTING } from "../../../../src/echo/state.ts";
import { footer } from "../../../../src/echo/screen.ts";
import { ASK_EVENT } from "../../../../src/home/notify_daemon.ts";
import {
  POLL_ATTENDED_MS,
  POLL_BUSY_MS,
  POLL_GAP_MS,
  POLL_SOON_MS,
} from "../../../../src/listener/inventory/inventory.ts";
import { ASK_LIFE_MS, HOOK_FRESH_MS } from "../../../../src/listener/inventory/session_entry.ts";
import { encodeFrame, parseFrame } from "../../../../src/protocol/frames.ts";
import { INVENTORY_POLL_MS, TEXT_FRAME_MAX_BYTES } from "../../../../src/protocol/limits.ts";
import type { AgentState, SessionEntry } from "../../../../src/protocol/session.ts";
import { Bench, DIALOG, IDLE, idleBench, START, WORKING } from "./inventory_bench.ts";

Deno.test("inventory: a session is muted by its recorded project, and by where its program is now [cli-mute]", async () => {
  const bench = new Bench();
  const muted = async (): Promise<boolean | undefined> => (await bench.inventory.read())[0]?.muted;
  assert.equal(await muted(), false);
  bench.muted = "/shop";
  assert.equal(await muted(), true);
  bench.directory = "";
  assert.equal(await muted(), true, "a session that no wrapper made");
  [bench.directory, bench.muted] = ["/named/project", "/named/project"];
  assert.equal(await muted(), true, "a project that the environment named");
});

Deno.test("inventory: a session that the relay would reject is omitted and logged once, and the others are reported [inv-left-out]", async () => {
  const bench = new Bench();
  const names = async (): Promise<string[]> => {
    const sessions = await bench.inventory.read();
    const frame = parseFrame(encodeFrame("listener.sessions", { sequence: 1, sessions }));
    assert.ok("data" in frame, JSON.stringify(frame));
    return sessions.map(({ name }) => name);
  };
  const long = "svc-".padEnd(300, "x");
  bench.others = [{ id: "$2", name: long }, { id: "$3", name: "svc-time", created: NaN }, {
    id: "$4",
    name: "svc-zoo",
  }];
  assert.deepEqual(await names(), ["svc-shop", "svc-zoo"]);
  assert.deepEqual(Object.keys(bench.inventory.lines()).includes(long), false);
  await names();
  assert.equal(bench.logged.length, 2, bench.logged.join("\n"));
  assert.match(
    bench.logged[0] ?? "",
    /^! left out of the inventory: the session "svc-x+": \/name: at most 256/,
  );
  const left = bench.others;
  bench.others = [];
  await names();
  bench.others = left.slice(0, 1);
  await names();
  assert.equal(bench.logged.length, 3, "a new one of that name");
});

Deno.test("inventory: of more than 200 sessions the first by name are reported [inv-left-out]", async () => {
  const bench = new Bench();
  bench.name = "svc-zoo";
  bench.others = Array.from({ length: 200 }, (_, at) => ({ id: `$${at + 2}`, name: `svc-${at}` }));
  const names = (await bench.inventory.read()).map(({ name }) => name);
  assert.deepEqual(names, bench.others.map(({ name }) => name).sort());
});

Deno.test("inventory: if there are more sessions than a frame holds, the first are reported, with room for the details [inv-left-out]", async () => {
  const bench = new Bench();
  const sealedDetails = 60_000;
  const names = Array.from({ length: 199 }, (_, at) => `svc-${String(at).padStart(3, "0")}`);
  const long = "の".repeat(5_000);
  const recorded = { agent: "echo", directory: "", root: "", claim: "", pane: "%1", pid: "42" };
  bench.others = names.map((name) => ({ id: name, name, recorded: { ...recorded, project: long } }));
  const sessions = await bench.inventory.read();
  const bytes = utf8Length(encodeFrame("listener.sessions", { sequence: 1, sessions }));
  assert.ok(bytes + sealedDetails <= TEXT_FRAME_MAX_BYTES, `${bytes}`);
  assert.deepEqual(sessions.map(({ name }) => name), names.slice(0, sessions.length));
  assert.ok(sessions.length > 50, `${sessions.length}`);
});

Deno.test("inventory: a hook's state counts until the screen has changed, and for a limited time [ls-state-moved]", async () => {
  const bench = await idleBench();
  bench.report("working");
  assert.equal(await bench.state(), "working");
  bench.now += HOOK_FRESH_MS;
  assert.equal(await bench.state(), "idle", "nothing was drawn: no turn began");
  bench.report("working");
  bench.now += 300;
  bench.draw(...WORKING);
  assert.equal(await bench.state(), "working");
  bench.report("waiting");
  bench.now += 300;
  bench.draw(...IDLE);
  assert.equal(await bench.state(), "idle", "the screen is neither as it was nor as the hook said");
});

Deno.test("inventory: a clock that is set back does not prolong a hook's state [ls-state-moved, fault-clock]", async () => {
  const bench = await idleBench();
  bench.report("working");
  bench.aheadMs = -3_600_000;
  bench.now += HOOK_FRESH_MS;
  assert.equal(await bench.state(), "idle", "nothing was drawn");
  bench.aheadMs = 0;
  bench.report("working");
  bench.aheadMs = -3_600_000;
  bench.now += 300;
  bench.draw(...WORKING);
  assert.equal(await bench.state(), "working");
  bench.report("waiting");
  bench.aheadMs = -7_200_000;
  bench.now += 300;
  bench.draw(...IDLE);
  assert.equal(await bench.state(), "idle", "the screen is newer");
});

Deno.test("inventory: an agent that draws after the sessions were listed is read with the cursor of its new screen [ls-state-moved]", async () => {
  const bench = new Bench();
  bench.lines = [...IDLE];
  bench.onListed = () => {
    bench.lines = ["said", "meanwhile", ...WORKING];
  };
  assert.equal(await bench.state(), "working");
});

Deno.test("inventory: output in the second of a capture is captured again [ls-state-last-second]", async () => {
  const bench = await idleBench();
  bench.now += 100;
  bench.draw(...WORKING);
  assert.equal(await bench.state(), "working");
  bench.now += 300;
  bench.draw(...IDLE);
  bench.now += 5_000;
  assert.equal(await bench.state(), "idle");
  const { captures } = bench;
  bench.now += 5_000;
  await bench.state();
  assert.equal(bench.captures, captures, "nothing was drawn since");
});

Deno.test("inventory: a dialog that one capture does not show stays open if the next one shows it, however long ago the agent drew [dlg-card]", async () => {
  const bench = await idleBench();
  const dialog = async (): Promise<string | undefined> => {
    await bench.inventory.read();
    return bench.inventory.dialogOf("svc-shop")?.id;
  };
  bench.draw(...DIALOG);
  bench.now += 5_000;
  assert.equal(await dialog(), undefined, "it may be half drawn");
  assert.equal(bench.inventory.nextReadMs(), POLL_GAP_MS);
  const id = await dialog();
  assert.ok(id);
  bench.draw("half");
  bench.now += 5_000;
  assert.equal(await dialog(), id);
  bench.lines = DIALOG;
  assert.equal(await dialog(), id);
  bench.draw("another screen");
  bench.now += 5_000;
  assert.equal(await dialog(), id);
  assert.equal(await dialog(), undefined, "two captures in a row");
});

Deno.test("inventory: a dialog's closing is reported once, even if its session has ended [dlg-card]", async () => {
  const bench = await idleBench();
  const shown = async (...lines: string[]): Promise<string[]> => {
    bench.draw(...lines);
    bench.now += 5_000;
    for (let reads = 0; reads < 3; reads++) {
      bench.now += 500;
      await bench.inventory.read();
    }
    return bench.dialogs.splice(0);
  };
  assert.deepEqual(await shown(...DIALOG), ["svc-shop opened"]);
  assert.deepEqual(await shown(...WORKING), ["/s $1 %1 42 closed 0 ms ago"]);
  assert.deepEqual(await shown(...IDLE), []);
  assert.deepEqual(await shown(...DIALOG), ["svc-shop opened"]);
  assert.deepEqual(
    await shown("unrecognized"),
    ["/s $1 %1 42 closed 500 ms ago"],
    "the first look was in doubt",
  );
  assert.deepEqual(await shown(...DIALOG), ["svc-shop opened"]);
  bench.isGone = true;
  assert.deepEqual(await shown(...DIALOG), ["/s $1 %1 42 closed 0 ms ago"]);
});

Deno.test("inventory: a session that is renamed keeps its open dialog and its usage limit [dlg-card, ux-later]", async () => {
  const bench = await idleBench();
  const read = async (): Promise<SessionEntry | undefined> => {
    bench.now += 5_000;
    const [entry] = await bench.inventory.read();
    return entry;
  };
  bench.draw(...DIALOG);
  await read();
  const before = await read();
  assert.deepEqual(bench.dialogs.splice(0), ["svc-shop opened"]);
  bench.name = "svc-till";
  assert.deepEqual((await read())?.dialog, before?.dialog);
  assert.deepEqual(bench.dialogs.splice(0), [], "it is still open");
  bench.draw(...IDLE);
  await read();
  assert.deepEqual(bench.dialogs.splice(0), ["/s $1 %1 42 closed 0 ms ago"]);
  const news = {
    type: "agent.stop",
    title: "shop",
    body: "You've hit your usage limit, try again in 2 hours",
  } as const;
  bench.report("idle", { event: "StopFailure", session: "svc-till", news });
  const limit = (await read())?.limit;
  assert.ok(limit?.resetsAt);
  bench.name = "svc-shop";
  assert.deepEqual((await read())?.limit, limit);
});

Deno.test("inventory: a usage limit that a hook reports before the first read counts [ux-later]", async () => {
  const bench = new Bench();
  bench.name = "svc-till";
  const news = {
    type: "agent.stop",
    title: "shop",
    body: "You've hit your usage limit, try again in 2 hours",
  } as const;
  bench.report("idle", { event: "StopFailure", session: "svc-shop", socket: "/s", pane: "%1", news });
  bench.report("idle", { event: "StopFailure", session: "svc-other", socket: "/s", pane: "%9", news });
  bench.draw(...IDLE);
  const [entry] = await bench.inventory.read();
  assert.equal(entry?.limit?.resetsAt, START + 2 * 3_600_000);
});

Deno.test("inventory: a limit that is reported before the first read does not end the turn that follows it [ls-state-foreign]", async () => {
  const bench = new Bench();
  const { inventory } = bench;
  bench.draw(...WORKING);
  const own = { agent: "echo", cwd: "/shop", session: "svc-shop", socket: "/s", pane: "%1" };
  const reports = [
    { ...own, event: "StopFailure", state: "idle", conversation: "own" },
    { ...own, event: "UserPromptSubmit", state: "working", conversation: "own" },
  ] as const;
  for (const report of reports) inventory.take(inventory.placed(report));
  await inventory.read();
  const { isOfTool } = inventory.placed({ ...own, event: "Stop", state: "idle", conversation: "tool's" });
  assert.equal(isOfTool, true);
});

Deno.test("inventory: a session is waiting while its question waits, as long as the asker reports [ls-state-ask]", async () => {
  const bench = await idleBench();
  bench.draw(...WORKING);
  const ask = { event: ASK_EVENT, agent: "mcp", pane: undefined };
  bench.report("waiting", ask);
  assert.equal(await bench.state(), "waiting");
  bench.now += ASK_LIFE_MS - 1;
  assert.equal(await bench.state(), "waiting");
  bench.report("waiting", ask);
  bench.now += ASK_LIFE_MS - 1;
  assert.equal(await bench.state(), "waiting");
  bench.report("working", ask);
  assert.equal(await bench.state(), "working");
  bench.report("waiting", ask);
  bench.now += ASK_LIFE_MS;
  assert.equal(await bench.state(), "working", "the asker is gone");
});

Deno.test("inventory: a question whose asker is gone stops counting as waiting even if the clock was set back [ls-state-ask, fault-clock]", async () => {
  const bench = await idleBench();
  bench.draw(...WORKING);
  const ask = { event: ASK_EVENT, agent: "mcp", pane: undefined };
  bench.report("waiting", ask);
  bench.aheadMs = 3_600_000;
  assert.equal(await bench.state(), "waiting", "set ahead");
  bench.aheadMs = -3_600_000;
  bench.now += ASK_LIFE_MS;
  assert.equal(await bench.state(), "working");
});

Deno.test("inventory: a question that the agent abandoned does not count as waiting, however often it is reported; the next one does [ls-state-ask]", async () => {
  for (const isInterrupted of [true, false]) {
    const bench = await idleBench();
    bench.draw(...WORKING);
    const ask = { event: ASK_EVENT, agent: "mcp", pane: undefined, ask: "one" };
    bench.report("waiting", ask);
    bench.now += 5_000;
    bench.report("working", { event: "UserPromptSubmit" });
    assert.equal(await bench.state(), "waiting", "a message that the agent queued changes nothing");
    bench.now += 1_000;
    bench.report("waiting", ask);
    if (isInterrupted) bench.draw(...IDLE);
    else bench.report("idle");
    bench.now += HOOK_FRESH_MS;
    assert.equal(await bench.state(), isInterrupted ? "idle" : "working");
    bench.draw(...WORKING);
    bench.report("working", { event: "UserPromptSubmit" });
    bench.report("waiting", ask);
    assert.equal(await bench.state(), "working");
    bench.report("waiting", { ...ask, ask: "two" });
    assert.equal(await bench.state(), "waiting");
    bench.report("working", { ...ask, ask: "two" });
    bench.report("waiting", ask);
    assert.equal(await bench.state(), "working", "the one that was left is left for good");
  }
});

Deno.test("inventory: reports from another pane or project change nothing [ls-state-foreign]", async () => {
  const bench = await idleBench();
  for (const foreign of [{ cwd: "/shop2" }, { cwd: "/other/shop" }, { pane: "%2" }, { socket: "/t" }]) {
    bench.report("working", foreign);
    assert.equal(await bench.state(), "idle", JSON.stringify(foreign));
  }
  bench.report("working");
  bench.report("idle", { cwd: "/other" });
  assert.equal(await bench.state(), "working", "the session's own report still counts");
  for (const own of [{ cwd: "/shop/below" }, { cwd: "/" }, { pane: undefined }, { socket: "/s" }]) {
    bench.now += HOOK_FRESH_MS;
    assert.equal(await bench.state(), "idle");
    bench.report("working", own);
    assert.equal(await bench.state(), "working", JSON.stringify(own));
  }
});

Deno.test("inventory: another kind of agent that runs as a tool in the pane changes nothing [ls-state-foreign]", async () => {
  const bench = await idleBench();
  bench.draw(...WORKING);
  bench.now += 2_000;
  assert.equal(await bench.state(), "working");
  bench.report("idle", { agent: "codex" });
  assert.equal(await bench.state(), "working");
  bench.report("idle");
  assert.equal(await bench.state(), "idle");
});

Deno.test("inventory: the next read follows soon after a report or input, after half a second while an agent is busy, later while it is idle [ls-state-pace]", async () => {
  const bench = await idleBench();
  bench.now += 60_000;
  await bench.state();
  assert.equal(bench.inventory.nextReadMs(), INVENTORY_POLL_MS);
  bench.inventory.readSoon();
  assert.equal(bench.inventory.nextReadMs(), POLL_SOON_MS);
  bench.draw(...WORKING);
  bench.now += 10_000;
  await bench.state();
  assert.equal(bench.inventory.nextReadMs(), POLL_BUSY_MS);
  bench.draw(...IDLE);
  bench.now += 5_000;
  await bench.state();
  assert.equal(bench.inventory.nextReadMs(), POLL_ATTENDED_MS);
  bench.now += 60_000;
  bench.attached = true;
  await bench.state();
  assert.equal(bench.inventory.nextReadMs(), POLL_ATTENDED_MS);
  bench.report("idle");
  assert.equal(bench.inventory.nextReadMs(), POLL_SOON_MS);
});

Deno.test("inventory: after the clock was set back, a report accelerates the reads for no longer than before [fault-clock]", async () => {
  const bench = await idleBench();
  bench.report("idle");
  bench.aheadMs = -3_600_000;
  bench.draw(...IDLE);
  bench.now += 60_000;
  await bench.state();
  assert.equal(bench.inventory.nextReadMs(), INVENTORY_POLL_MS);
});

Deno.test("inventory: a screen too large for any profile is not captured, and shows no state [read-linear]", async () => {
  const bench = new Bench();
  bench.draw(...footer(RESTING, 80).lines);
  bench.cols = 1_000;
  await bench.inventory.read();
  assert.equal(bench.captures, 0);
  bench.cols = 80;
  bench.draw(...footer(RESTING, 80).lines, "");
  bench.activity++;
  assert.equal(await bench.state(), "idle");
  assert.equal(bench.captures, 1);
});

/** Makes a disk that saves no state until `disk` resolves; `saved` are the states that it was given. */
function slowDisk(bench: Bench): { disk: PromiseWithResolvers<void>; saved: AgentState[] } {
  const disk = Promise.withResolvers<void>();
  const saved: AgentState[] = [];
  bench.save = (states) => {
    saved.push(...Object.values(states).map(({ state }) => state));
    return disk.promise;
  };
  return { disk, saved };
}

Deno.test("inventory: a slow disk delays no state, and gets the latest ones [ls-state-pace, ls-state-since]", async () => {
  const bench = await idleBench();
  await bench.inventory.saved();
  const { disk, saved } = slowDisk(bench);
  const seen: (AgentState | undefined)[] = [];
  for (const lines of [WORKING, IDLE, WORKING]) {
    bench.now += 10_000;
    bench.draw(...lines);
    seen.push(await bench.state());
  }
  assert.deepEqual(seen, ["working", "idle", "working"]);
  assert.deepEqual(saved, ["working"]);
  disk.resolve();
  await bench.inventory.saved();
  assert.deepEqual(saved, ["working", "working"]);
});

Deno.test("inventory: states that come at any moment while earlier ones are saved are saved too [ls-state-since]", async () => {
  for (let turns = 0; turns < 60; turns++) {
    const bench = await idleBench();
    await bench.inventory.saved();
    const { disk, saved } = slowDisk(bench);
    bench.draw(...WORKING);
    bench.now += 10_000;
    await bench.state();
    bench.draw(...IDLE);
    bench.now += 10_000;
    const reading = bench.state();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    disk.resolve();
    await reading;
    await bench.inventory.saved();
    assert.deepEqual(saved, ["working", "idle"], `after ${turns} turns`);
  }
});
