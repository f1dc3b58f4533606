/** One session's mirror with a scripted tmux: who gets a screen when, what a flood causes, what ends it. */
import assert from "node:assert/strict";
import { plainChannel } from "../../../../src/crypto/stream.ts";
import {
  FLOOD_BYTES,
  FLOOD_REST_MAX_MS,
  FLOOD_REST_MS,
  FLOOD_WINDOW_MS,
  FLOODING_BYTES,
  FloodMeter,
  FRAME_MS,
  QUIET_MS,
  REST_TIMES,
  SessionMirror,
  UNSURE_MAX_MS,
} from "../../../../src/listener/mirror/session_mirror.ts";
import { Viewer } from "../../../../src/listener/mirror/viewer.ts";
import { MIRROR_CREDIT_BYTES } from "../../../../src/protocol/limits.ts";
import { decodeBinaryFrame, decodeMirror, decodeSequenced } from "../../../../src/protocol/pane_frame.ts";
import type { TmuxCommand } from "../../../../src/tmux/argv.ts";
import type { ControlAnswer, ControlEvents } from "../../../../src/tmux/control_client.ts";
import { TmuxError } from "../../../../src/tmux/server.ts";
import { FakeClock } from "../../../helpers/fake_clock.ts";
import { type PrintedPane, printedPane } from "../../../helpers/printed_pane.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A mirror of pane `%3`, with a tmux played by the test. */
class Bench {
  readonly clock = new FakeClock();
  readonly requests: { commands: readonly TmuxCommand[]; done(answer: ControlAnswer): void }[] = [];
  readonly mirror: SessionMirror;
  events: ControlEvents | undefined;
  ended = 0;
  /** The session's panes. */
  panes = ["%2", "%3"];

  constructor() {
    this.mirror = new SessionMirror({
      pane: "%3",
      sessionId: "$1",
      clock: this.clock,
      open: (events) => {
        this.events = events;
        return {
          request: (commands, done) => void this.requests.push({ commands, done }),
          close: () => Promise.resolve(),
        };
      },
      ended: () => void this.ended++,
    });
    this.requests.shift()?.done(["@2 70 0"]);
    const [subscribed] = this.asked();
    assert.match(subscribed ?? "", /^-B svc-panes:@2:\S.* -B svc-title:%3:/, "nothing for the session");
    this.requests.shift()?.done(["", ""]);
  }

  /** Returns the unanswered requests: the arguments of refresh-client, and the names of the other commands. */
  asked(): string[] {
    return this.requests.map(({ commands }) =>
      commands.map(([name = "", ...words]) => name === "refresh-client" ? words.join(" ") : name).join(" ")
    );
  }

  /** Answers the oldest request: with a snapshot, or with nothing if it is a pause. */
  answer(pane: PrintedPane = {}): void {
    const request = this.requests.shift();
    assert.ok(request, "nothing was asked");
    const before = request.commands.filter(([name]) => name === "refresh-client").map(() => "");
    const isSnapshot = request.commands.length > before.length;
    request.done([...before, ...(isSnapshot ? [this.panes.join("\n"), ...printedPane(pane)] : [])]);
  }

  output(text: string | Uint8Array): void {
    this.events?.output(typeof text === "string" ? bytes(text) : text);
  }

  /** Opens a phone; `sent` returns what it was sent since the last call. */
  async watch(): Promise<{ viewer: Viewer; sent(): Promise<string[]> }> {
    const events: string[] = [];
    const viewer: Viewer = new Viewer({
      stream: 1,
      channel: plainChannel(),
      history: 0,
      opened: ({ cols, rows }) => void events.push(`opened ${cols}x${rows}`),
      send: (frame) => {
        const payload = decodeBinaryFrame(frame)?.payload ?? new Uint8Array();
        const message = decodeMirror(decodeSequenced(payload)?.bytes ?? new Uint8Array());
        if (message?.tag === "T") events.push(`T ${JSON.stringify(message.status)}`);
        else if (message?.tag === "R") events.push(`R ${message.cols}x${message.rows}`);
        else events.push(`${message?.tag} ${message && readable(message.bytes)}`);
      },
      ended: (reason) => void events.push(`ended ${reason}`),
    });
    this.mirror.add(viewer);
    const sent = async (): Promise<string[]> => {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      return events.splice(0);
    };
    await sent();
    return { viewer, sent };
  }
}

/** Returns only the text that was drawn, since the sequences are tested elsewhere. */
function readable(message: Uint8Array): string {
  const text = new TextDecoder().decode(message);
  return text.replace(/\u001b(\[[^@-~]*[@-~]|[()].|.)/g, "").replace(/[\u000e\u000f]/g, "").trim();
}

async function watching() {
  const bench = new Bench();
  const phone = await bench.watch();
  bench.answer({ cells: "\u001b[mfirst\n\n\n" });
  assert.deepEqual(await phone.sent(), ["opened 10x4", "S first", 'T {"title":"a\\ttitle"}']);
  return { bench, ...phone };
}

Deno.test("mirror: a snapshot, then output at once, then one frame every 16 ms [ux-resume]", async () => {
  const { bench, sent } = await watching();
  bench.output("\u001b[0ma");
  bench.output("b");
  assert.deepEqual(await sent(), ["O ab"], "at once, and what came together goes together");
  bench.output("c");
  bench.clock.advance(FRAME_MS - 1);
  assert.deepEqual(await sent(), []);
  bench.output("d");
  bench.clock.advance(1);
  assert.deepEqual(await sent(), ["O cd"]);
});

Deno.test("mirror: after a keystroke the next output is sent at once, with what was batched [perf-key-echo]", async () => {
  const { bench, sent } = await watching();
  bench.output("\u001b[0ma");
  assert.deepEqual(await sent(), ["O a"]);
  bench.output("b");
  bench.mirror.expectEcho();
  assert.deepEqual(await sent(), [], "nothing but output is sent");
  bench.output("echo");
  assert.deepEqual(await sent(), ["O becho"]);
  bench.output("c");
  bench.clock.advance(FRAME_MS - 1);
  assert.deepEqual(await sent(), [], "gathered again, from the echo on");
  bench.clock.advance(1);
  assert.deepEqual(await sent(), ["O c"]);
});

Deno.test("mirror: output before the snapshot is not sent, output after it is", async () => {
  const bench = new Bench();
  const { sent } = await bench.watch();
  bench.output("before");
  bench.answer({ cells: "screen\n\n\n" });
  bench.output("after");
  assert.deepEqual(await sent(), ["opened 10x4", "S screen", 'T {"title":"a\\ttitle"}', "O after"]);
});

Deno.test("mirror: a second phone gets its own snapshot, the first one continues", async () => {
  const { bench, sent } = await watching();
  const second = await bench.watch();
  bench.output("\u001b(B\u001b[0mx");
  bench.answer({ cells: "now\n\n\n" });
  bench.output("y");
  bench.clock.advance(FRAME_MS);
  assert.deepEqual(await sent(), ["O xy"]);
  assert.deepEqual(await second.sent(), ["opened 10x4", "S now", 'T {"title":"a\\ttitle"}', "O y"]);
});

Deno.test("mirror: a flood is paused, and shown as snapshots [perf-flood]", async () => {
  const { bench, sent } = await watching();
  bench.output(new Uint8Array(FLOOD_BYTES).fill(0x79));
  assert.deepEqual(bench.asked(), ["-A %3:pause"]);
  bench.output("still under way");
  bench.answer();
  bench.clock.advance(FLOOD_REST_MS - 1);
  assert.deepEqual([bench.asked(), await sent()], [[], []]);
  bench.clock.advance(1);
  assert.match(bench.asked()[0] ?? "", /^-A %3:continue list-panes display-message capture-pane/);
  bench.answer({ cells: "later\n\n\n" });
  assert.deepEqual(await sent(), ["S later"]);
});

Deno.test("mirror: in a flood the longer a snapshot took the later the next one comes, within two seconds [perf-flood, closed-hostile-screen]", async () => {
  const { bench } = await watching();
  for (const [took, rest] of [[100, REST_TIMES * 100], [1_000, FLOOD_REST_MAX_MS]] as const) {
    bench.output(new Uint8Array(FLOOD_BYTES).fill(0x79));
    bench.answer();
    while (bench.asked().length === 0) bench.clock.advance(1);
    bench.clock.advance(took);
    bench.answer({ cells: "slow\n\n\n" });
    bench.output(new Uint8Array(FLOOD_BYTES).fill(0x79));
    bench.answer();
    bench.clock.advance(rest - 1);
    assert.deepEqual(bench.asked(), []);
    bench.clock.advance(1);
    assert.match(bench.asked()[0] ?? "", /continue/);
    bench.answer({ cells: "next\n\n\n" });
  }
});

Deno.test("mirror: a snapshot requested before a pause is not used after it", async () => {
  const { bench, sent } = await watching();
  bench.events?.notified("%layout-change @0 x");
  bench.output(new Uint8Array(FLOOD_BYTES));
  bench.answer({ cells: "too old\n\n\n" });
  bench.answer();
  assert.deepEqual(await sent(), []);
  bench.clock.advance(FLOOD_REST_MS);
  bench.answer({ cells: "right\n\n\n" });
  assert.deepEqual(await sent(), ["S right"]);
});

Deno.test("mirror: while no phone has credit the output is paused; credit brings a new snapshot [ev-pane-credit]", async () => {
  const { bench, viewer, sent } = await watching();
  viewer.output(new Uint8Array(MIRROR_CREDIT_BYTES));
  viewer.flush();
  await sent();
  for (let sent = 0; sent <= 300_000; sent += 30_000) {
    bench.output(new Uint8Array(30_000));
    bench.clock.advance(60);
  }
  assert.deepEqual(bench.asked(), ["-A %3:pause"]);
  bench.answer();
  bench.output("unseen");
  assert.deepEqual([bench.asked(), await sent()], [[], []]);
  bench.mirror.credit(viewer, 100_000);
  bench.answer({ cells: "caught up\n\n\n" });
  assert.deepEqual(await sent(), ["S caught up"]);
});

Deno.test("mirror: output with unknown attributes is repainted once the screen is quiet", async () => {
  const { bench, sent } = await watching();
  bench.output("uncertain");
  assert.deepEqual(await sent(), ["O uncertain"]);
  bench.clock.advance(QUIET_MS - 1);
  bench.output("\u001b[0mcertain");
  assert.deepEqual(await sent(), ["O certain"]);
  bench.clock.advance(QUIET_MS - 1);
  assert.deepEqual(bench.asked(), []);
  bench.clock.advance(1);
  bench.answer({ cells: "as tmux has it\n\n\n" });
  assert.deepEqual(await sent(), ["O as tmux has it"]);
  bench.output("more");
  bench.clock.advance(QUIET_MS * 3);
  assert.deepEqual([bench.asked(), await sent()], [[], ["O more"]], "certain by now");
});

Deno.test("mirror: a screen that is never quiet is repainted after a second", async () => {
  const { bench } = await watching();
  for (let ms = 0; ms < UNSURE_MAX_MS + QUIET_MS; ms += 100) {
    bench.output("spinner");
    bench.clock.advance(100);
  }
  assert.match(bench.asked()[0] ?? "", /^list-panes display-message/);
});

Deno.test("mirror: a new size is sent before its snapshot [bin-tags]", async () => {
  const { bench, sent } = await watching();
  bench.events?.notified("%layout-change @0 x");
  bench.answer({ cells: "same\n\n\n" });
  assert.deepEqual(await sent(), [], "another pane's layout");
  bench.events?.notified("%layout-change @0 x");
  bench.answer({ facts: { cols: "20", rows: "2" }, cells: "wide\n" });
  assert.deepEqual(await sent(), ["R 20x2", "S wide"]);
});

Deno.test("mirror: the title is sent when it changes", async () => {
  const { bench, sent } = await watching();
  bench.events?.notified("%subscription-changed svc-title $1 @0 0 %3 : new : title");
  assert.deepEqual(await sent(), ['T {"title":"new : title"}']);
});

Deno.test("mirror: lines above the screen are sent once, on request", async () => {
  const { bench, viewer, sent } = await watching();
  bench.mirror.scrollback(viewer, 500);
  assert.match(bench.asked()[0] ?? "", /capture-pane capture-pane$/);
  assert.deepEqual(bench.requests[0]?.commands.at(-1)?.slice(-4), ["-S", "-500", "-E", "-1"]);
  bench.answer({ facts: { history: "1" }, cells: "screen\n\n\n", history: "above" });
  assert.match((await sent()).join(), /^S above\s+screen$/);
  assert.equal(viewer.history, 0);
});

Deno.test("mirror: lines above the screen that are requested while a snapshot without them is under way are sent", async () => {
  const { bench, viewer, sent } = await watching();
  bench.events?.notified("%layout-change @0 x");
  bench.mirror.scrollback(viewer, 500);
  bench.answer({ cells: "without\n\n\n" });
  assert.deepEqual(await sent(), [], "not what was requested");
  assert.deepEqual(bench.requests[0]?.commands.at(-1)?.slice(-4), ["-S", "-500", "-E", "-1"]);
  bench.answer({ facts: { history: "1" }, cells: "screen\n\n\n", history: "above" });
  assert.match((await sent()).join(), /^S above\s+screen$/);
  assert.deepEqual(bench.asked(), []);
});

Deno.test("mirror: its phones are told why it ends as soon as tmux reports it", async () => {
  const cases: [(bench: Bench) => void, string][] = [
    [({ events }) => events?.notified("%session-renamed $1 other"), "session_renamed"],
    [({ events }) => events?.notified("%session-changed $2 other"), "session_ended"],
    [({ events }) => events?.ended(), "mirror_lost"],
    [(bench) => {
      bench.events?.notified("%subscription-changed svc-panes $1 - - - : %4 71 0;");
      bench.answer({ facts: { pane: "" } });
    }, "pane_gone"],
    [(bench) => {
      bench.events?.notified("%layout-change @0 x");
      bench.requests.shift()?.done(new TmuxError("can't find pane: %3"));
    }, "pane_gone"],
  ];
  for (const [act, reason] of cases) {
    const { bench, sent } = await watching();
    bench.output("x");
    await sent();
    act(bench);
    assert.deepEqual(await sent(), [`ended ${reason}`]);
    assert.equal(bench.ended, 1);
    assert.equal(bench.clock.pending, 0, "no timer is left");
  }
});

Deno.test("mirror: it ends when its pane is moved to another session, although tmux can still capture it", async () => {
  for (
    const line of [
      "%layout-change @2 b25d,80x24,0,0,0",
      "%window-close @2",
      "%unlinked-window-close @2",
      "%session-window-changed $1 @3",
      "%subscription-changed svc-panes $1 @2 0 - : %2 69 0;",
    ]
  ) {
    const { bench, sent } = await watching();
    bench.events?.notified(line);
    assert.deepEqual(bench.requests[0]?.commands[0], ["list-panes", "-s", "-t", "$1", "-F", "#{pane_id}"]);
    bench.panes = ["%2", "%30"];
    bench.answer({ cells: "elsewhere\n\n\n" });
    assert.deepEqual(await sent(), ["ended pane_gone"], line);
  }
});

Deno.test("mirror: renaming another session changes nothing, and a dead pane's last screen is shown", async () => {
  const { bench, sent } = await watching();
  bench.events?.notified("%session-renamed $2 other");
  bench.events?.notified("%session-changed $1 same");
  assert.deepEqual([bench.asked(), bench.ended], [[], 0]);
  bench.events?.notified("%subscription-changed svc-panes $1 - - - : %2 69 0;%3 70 1;");
  bench.answer({ cells: "Pane is dead\n\n\n" });
  assert.deepEqual(await sent(), ["S Pane is dead"]);
});

Deno.test("mirror: a respawned pane is shown with its new content, another pane's process changes nothing", async () => {
  const { bench, sent } = await watching();
  const panes = (value: string): void =>
    bench.events?.notified(`%subscription-changed svc-panes $1 - - - : ${value}`);
  panes("%2 69 0;%3 70 0;");
  bench.answer({ cells: "same\n\n\n" });
  panes("%2 75 0;%3 70 0;");
  bench.answer({ cells: "same\n\n\n" });
  assert.deepEqual(await sent(), []);
  for (const process of ["71 0", "71 1", "72 0"]) {
    panes(`%2 75 0;%3 ${process};`);
    bench.answer({ cells: `${process}\n\n\n` });
    assert.deepEqual(await sent(), [`S ${process}`]);
  }
});

Deno.test("flood: much output at once is a flood, the same amount over a longer time is not", () => {
  const gauge = new FloodMeter();
  assert.equal(gauge.isFlood(FLOOD_BYTES - 1, 0), false);
  assert.equal(gauge.isFlood(1, FLOOD_WINDOW_MS - 1), true);
  const slow = new FloodMeter();
  for (let now = 0; now < 1_000; now += FLOOD_WINDOW_MS) {
    assert.equal(slow.isFlood(FLOOD_BYTES - 1, now), false);
  }
});

Deno.test("flood: after a pause a smaller amount is a flood, until one window was calm", () => {
  const gauge = new FloodMeter();
  gauge.rested(0);
  assert.equal(gauge.isFlood(FLOODING_BYTES, 1), true);
  gauge.rested(100);
  assert.equal(gauge.isFlood(FLOODING_BYTES - 1, 101), false);
  assert.equal(gauge.isFlood(FLOODING_BYTES, 101 + FLOOD_WINDOW_MS), false, "calm before: the usual measure");
});
