/** Inputs and tool calls of one pane exclude each other, and the model of the composer accepts only newer screens. */
import assert from "node:assert/strict";
import type { ScreenReading } from "../../../../src/agents/profile.ts";
import { agentProfile } from "../../../../src/agents/profiles.ts";
import {
  CALM_MS,
  ESCAPE_MS,
  GATE_HOLD_MS,
  NEXT_DIALOG_MS,
  TOOL_DIALOG_MS,
  TURN_START_MS,
  VIEW_CALM_MS,
} from "../../../../src/listener/inject/pane_input.ts";
import { ASK_EVENT } from "../../../../src/home/notify_daemon.ts";
import { PaneInputs } from "../../../../src/listener/inject/pane_inputs.ts";
import { afterInput, type Keystroke } from "../../../../src/listener/keystrokes/keystroke_rules.ts";
import { FakeClock } from "../../../helpers/fake_clock.ts";

const CLAUDE = agentProfile("cc");
const TARGET = { socket: "/s", pane: "%1", session: "svc-a", panePid: 7, profile: CLAUDE };
const composer = (draft: string, state: ScreenReading["state"] = "working"): ScreenReading => ({
  state,
  focus: "composer",
  draft,
});
const DIALOG: ScreenReading = { state: "waiting", focus: "dialog", draft: undefined };

function makeBench() {
  const clock = new FakeClock();
  const inputs = new PaneInputs(clock);
  const report = (event: string, more: Record<string, unknown> = {}) => ({
    event,
    agent: "cc",
    cwd: "/p",
    session: "svc-a",
    pane: "%1",
    gates: true,
    ...more,
  });
  const toolBegins = (id?: string): { done: Promise<void>; isDone: boolean } => {
    const call = { isDone: false, done: Promise.resolve() };
    call.done = inputs.toolBegins(report("PreToolUse", { tool: { step: "before", id } })).then(() =>
      void (call.isDone = true)
    );
    return call;
  };
  return { clock, inputs, report, toolBegins, pane: inputs.of(TARGET) };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

Deno.test("gate: a tool call waits for the input in flight, and no input begins after it [inj-gate]", async () => {
  const { pane, toolBegins } = makeBench();
  const inFlight = pane.gate.begin();
  const call = toolBegins("1");
  await turns();
  assert.equal(call.isDone, false);
  assert.equal(pane.gate.begin(), undefined);
  assert.ok(inFlight?.mayGoOn());
  inFlight?.end();
  await call.done;
  assert.equal(pane.gate.begin(), undefined);
});

Deno.test("gate: a tool call waits for a limited time, after which the input may not press Enter [inj-gate]", async () => {
  const { clock, pane, toolBegins } = makeBench();
  const inFlight = pane.gate.begin();
  const call = toolBegins("1");
  await turns();
  clock.advance(GATE_HOLD_MS);
  await call.done;
  assert.equal(inFlight?.mayGoOn(), false);
});

Deno.test("gate: it opens when the call or the turn has ended, or the dialog has closed [inj-gate]", async () => {
  const { clock, inputs, report, pane, toolBegins } = makeBench();
  await Promise.all([toolBegins("1").done, toolBegins("2").done]);
  inputs.hook(report("PostToolUse", { tool: { step: "after", id: "2" } }));
  assert.equal(pane.gate.isOpen, false);
  inputs.hook(report("PostToolUse", { tool: { step: "after", id: "1" } }));
  assert.equal(pane.gate.isOpen, true);

  await toolBegins("3").done;
  inputs.hook(report("Stop", { state: "idle" }));
  assert.equal(pane.gate.isOpen, true);

  await toolBegins("4").done;
  pane.observed(DIALOG, CLAUDE);
  clock.advance(60_000);
  pane.observed(DIALOG, CLAUDE);
  assert.equal(pane.gate.isOpen, false);
  pane.observed(composer(""), CLAUDE);
  clock.advance(NEXT_DIALOG_MS - 1);
  pane.observed(composer(""), CLAUDE);
  assert.equal(pane.gate.isOpen, false, "another dialog may follow");
  clock.advance(1);
  pane.observed(composer(""), CLAUDE);
  assert.equal(pane.gate.isOpen, true);
});

Deno.test("gate: a subagent's call outlives the turn, and a permission request is not a separate call [inj-gate]", async () => {
  const { inputs, report, pane, toolBegins } = makeBench();
  await toolBegins("1").done;
  await inputs.toolBegins(report("PermissionRequest", { tool: { step: "before" } }));
  inputs.hook(report("PostToolUse", { tool: { step: "after", id: "1" } }));
  assert.equal(pane.gate.isOpen, true);
  await inputs.toolBegins(report("PreToolUse", { tool: { step: "before", id: "2", subagent: true } }));
  inputs.hook(report("Stop", { state: "idle" }));
  assert.equal(pane.gate.isOpen, false);
  inputs.hook(report("PostToolUse", { tool: { step: "after", id: "2", subagent: true } }));
  assert.equal(pane.gate.isOpen, true);
});

Deno.test("gate: a parallel call may open its dialog long after another's has closed [inj-gate]", async () => {
  const { clock, pane, toolBegins } = makeBench();
  await Promise.all([toolBegins().done, toolBegins().done]);
  pane.observed(DIALOG, CLAUDE);
  pane.observed(composer(""), CLAUDE);
  clock.advance(TOOL_DIALOG_MS);
  pane.observed(composer(""), CLAUDE);
  assert.equal(pane.gate.isOpen, false);
  pane.observed(composer("", "idle"), CLAUDE);
  assert.equal(pane.gate.isOpen, true, "the turn is over");
});

Deno.test("gate: a call that has shown no dialog for a while needs none [inj-gate]", async () => {
  const { clock, pane, toolBegins } = makeBench();
  await toolBegins().done;
  pane.observed(composer(""), CLAUDE);
  clock.advance(TOOL_DIALOG_MS);
  pane.observed({ state: "working", focus: "unknown", draft: undefined }, CLAUDE);
  assert.equal(pane.gate.isOpen, false, "an unknown screen shows nothing");
  pane.observed(composer(""), CLAUDE);
  clock.advance(TOOL_DIALOG_MS);
  pane.observed(composer(""), CLAUDE);
  assert.equal(pane.gate.isOpen, true);
});

Deno.test("gate: an agent of another kind that runs as a tool in the pane neither gates it nor ends its tool calls [inj-gate]", async () => {
  const { clock, inputs, report, pane } = makeBench();
  const created = clock.now() / 1_000;
  const nested = (event: string, more: Record<string, unknown>) =>
    inputs.hook(report(event, { agent: "codex", ...more }));
  nested("PostToolUse", { tool: { step: "after", id: "9" } });
  assert.equal(pane.isGated(CLAUDE, created), false);
  for (const id of ["1", "2"]) {
    await inputs.toolBegins(report("PreToolUse", { tool: { step: "before", id } }));
  }
  assert.equal(pane.isGated(CLAUDE, created), true);
  nested("Stop", { state: "idle" });
  assert.equal(pane.gate.begin(), undefined);
  inputs.hook(report("Stop", { state: "idle" }));
  assert.ok(pane.gate.begin());
});

Deno.test("gate: an agent started in the pane of another is not gated until its own hooks report [inj-gate]", () => {
  const { clock, inputs, report, pane } = makeBench();
  const created = clock.now() / 1_000;
  inputs.hook(report("SessionStart"));
  assert.equal(pane.isGated(CLAUDE, created), true);
  const codex = agentProfile("codex");
  const other = inputs.of({ ...TARGET, profile: codex });
  assert.equal(other.isGated(codex, created), false);
  inputs.hook(report("SessionStart", { agent: "codex" }));
  assert.equal(other.isGated(codex, created), true);
  assert.equal(inputs.of(TARGET).isGated(CLAUDE, created), false, "the first one again");
});

/** Makes two sessions on two tmux servers, whose panes have the same id, with reports of their hooks. */
function makeTwoServers() {
  const { clock, inputs, report } = makeBench();
  const targets = ["a", "b"].map((name) => ({ ...TARGET, socket: `/${name}`, session: `svc-${name}` }));
  const [one, other] = targets.map((target) => inputs.of(target));
  assert.ok(one && other);
  const begins = (more: Record<string, unknown>): Promise<void> =>
    inputs.toolBegins(
      report("PreToolUse", { session: undefined, pane: undefined, tool: { step: "before" }, ...more }),
    );
  return { clock, inputs, one, other, begins };
}

Deno.test("gate: panes with the same id on two tmux servers have separate gates [inj-gate]", async () => {
  for (const session of ["svc-a", undefined, "renamed"]) {
    const { one, other, begins } = makeTwoServers();
    const ours = one.gate.begin();
    const others = other.gate.begin();
    assert.deepEqual([ours?.mayGoOn(), others?.mayGoOn()], [true, true]);
    let hasBegun = false;
    const call = begins({ socket: "/a", pane: "%1", session }).then(() => hasBegun = true);
    others?.end();
    await turns();
    assert.equal(hasBegun, false, `${session}: it waits for the input of its own pane`);
    ours?.end();
    await call;
    assert.deepEqual([one.gate.isOpen, other.gate.isOpen], [false, true], `${session}`);
  }
});

Deno.test("gate: a hook of an older svc reports no server: its session decides, and a pane id alone only while one server has it [inj-gate, inj-turn]", async () => {
  const named = makeTwoServers();
  await named.begins({ pane: "%1", session: "svc-b" });
  assert.deepEqual([named.one.gate.isOpen, named.other.gate.isOpen], [true, false]);
  const bare = makeTwoServers();
  await bare.begins({ pane: "%1", socket: "/a" });
  bare.inputs.hook({ event: "Stop", agent: "cc", cwd: "/p", socket: "/a", pane: "%1", state: "idle" });
  assert.equal(bare.one.isGated(CLAUDE, 1), true);
  await bare.begins({ pane: "%1" });
  assert.deepEqual([bare.one.gate.isOpen, bare.other.gate.isOpen], [true, true]);
  assert.equal(bare.one.isGated(CLAUDE, 1), false, "its hook may be the one that nobody could place");
  const { inputs, report, pane } = makeBench();
  await inputs.toolBegins(report("PreToolUse", { session: undefined, tool: { step: "before" } }));
  assert.equal(pane.gate.isOpen, false);
});

Deno.test("gate: a hook may report before any message, and with only its session; another pane of the session is not the agent's [inj-gate]", async () => {
  for (const name of [{ pane: "%1", session: undefined }, { pane: undefined, session: "svc-a" }]) {
    const { inputs, report } = makeBench();
    await inputs.toolBegins(report("PreToolUse", { ...name, tool: { step: "before" } }));
    assert.equal(inputs.of(TARGET).gate.isOpen, false);
  }
  const { inputs, report, pane } = makeBench();
  await inputs.toolBegins(report("PreToolUse", { socket: "/s", pane: "%2", tool: { step: "before" } }));
  assert.equal(pane.gate.isOpen, true);
  await inputs.toolBegins(report("PreToolUse", { pane: undefined, tool: { step: "before" } }));
  assert.equal(pane.gate.isOpen, false);
});

Deno.test("gate: while an agent waits for its user's answer, its hooks still count, and its tool call is still open [inj-gate, inj-turn]", async () => {
  const { clock, inputs, report } = makeBench();
  const where = { session: "svc-b", pane: "%2", socket: "/s" };
  const call = { id: "1" };
  await inputs.toolBegins(report("PreToolUse", { ...where, tool: { step: "before", ...call } }));
  const asking = { event: ASK_EVENT, agent: "mcp", cwd: "/p", state: "waiting" as const };
  inputs.hook({ ...asking, session: "svc-b" });
  inputs.hook({ ...asking, ...where });
  const pane = inputs.of({ ...TARGET, ...where });
  assert.equal(pane.isGated(CLAUDE, Math.floor(clock.now() / 1_000)), true);
  assert.equal(pane.gate.isOpen, false);
  inputs.hook(report("PostToolUse", { ...where, tool: { step: "after", ...call } }));
  assert.equal(pane.gate.isOpen, true);
});

Deno.test("gate: only hooks that reported since the session began count as holding dialogs back [inj-turn]", () => {
  const { clock, inputs, report, pane } = makeBench();
  const created = Math.floor(clock.now() / 1_000);
  assert.equal(pane.isGated(CLAUDE, created), false);
  inputs.hook(report("SessionStart", { gates: undefined }));
  assert.equal(pane.isGated(CLAUDE, created), false);
  inputs.hook(report("SessionStart"));
  assert.equal(pane.isGated(CLAUDE, created), true);
  assert.equal(pane.isGated(CLAUDE, created + 60), false);
  assert.equal(pane.isGated(agentProfile("cursor"), created), false);
});

Deno.test("turn: after Enter an agent counts as working until its screen showed it work and finish [inj-turn]", () => {
  const { clock, pane } = makeBench();
  assert.equal(pane.isIdle(composer("", "idle")), true);
  pane.entered();
  assert.equal(pane.isIdle(composer("", "idle")), false);
  pane.observed(composer("", "working"), CLAUDE);
  assert.equal(pane.isIdle(composer("", "working")), false);
  assert.equal(pane.isIdle(composer("", "idle")), true);
  pane.entered();
  clock.advance(TURN_START_MS);
  assert.equal(pane.isIdle(composer("", "idle")), true);
});

Deno.test("model: a draft is trusted once the screen has changed to the predicted one [inj-fresh-screen]", () => {
  const { clock, pane } = makeBench();
  const type = (input: Keystroke): void => pane.keyTyped(afterInput(pane.model, input, clock.now()));
  const text = (text: string): Keystroke => ({ type: "text", text });
  pane.observed(composer(""), CLAUDE);
  assert.equal(pane.model.isConfirmed, true);
  type(text("ab"));
  pane.observed(composer(""), CLAUDE);
  assert.equal(pane.model.isConfirmed, false, "the old screen");
  pane.observed(composer("a"), CLAUDE);
  assert.equal(pane.model.isConfirmed, false, "half of it");
  pane.observed(composer("ab"), CLAUDE);
  assert.equal(pane.model.isConfirmed, true);
  type({ type: "key", key: "BSpace" });
  type(text("b"));
  pane.observed(composer("ab"), CLAUDE);
  assert.equal(pane.model.isConfirmed, false, "the same text as before the keys proves nothing");
  clock.advance(CALM_MS);
  pane.observed(composer("ab"), CLAUDE);
  assert.equal(pane.isCalm, true);
  pane.confirmCalm();
  assert.deepEqual([pane.model.isConfirmed, pane.model.seen, pane.model.isAtEnd], [true, "ab", false]);
});

Deno.test("model: after a key with an unpredictable effect only a stable screen counts [inj-fresh-screen]", () => {
  const { clock, pane } = makeBench();
  pane.observed(composer("x"), CLAUDE);
  pane.keyTyped(afterInput(pane.model, { type: "key", key: "Up" }, clock.now()));
  pane.observed(composer("!ls"), CLAUDE);
  assert.deepEqual([pane.model.isConfirmed, pane.isCalm], [false, false]);
  clock.advance(CALM_MS - 1);
  pane.observed(composer("!ls"), CLAUDE);
  assert.equal(pane.isCalm, false);
  clock.advance(1);
  assert.equal(pane.isCalm, true);
});

Deno.test("model: after a key that opens a view at once the composer counts only much later, or when a view has shown [inj-key-view]", () => {
  const { clock, pane } = makeBench();
  const press = (): void => pane.keyTyped(afterInput(pane.model, { type: "key", key: "C-o" }, clock.now()));
  pane.observed(composer(""), CLAUDE);
  press();
  pane.observed(composer(""), CLAUDE);
  clock.advance(VIEW_CALM_MS - 1);
  pane.observed(composer(""), CLAUDE);
  assert.equal(pane.isCalm, false);
  clock.advance(1);
  assert.equal(pane.isCalm, true);
  pane.confirmCalm();
  press();
  pane.observed({ ...composer(""), draft: undefined, focus: "menu" }, CLAUDE);
  pane.observed(composer(""), CLAUDE);
  clock.advance(CALM_MS);
  assert.equal(pane.isCalm, true, "the view has come and gone");
});

Deno.test("model: nothing immediately follows Escape [inj-after-escape]", () => {
  const { clock, pane } = makeBench();
  pane.keyTyped(afterInput(pane.model, { type: "key", key: "Escape" }, clock.now()));
  assert.equal(pane.escapeWaitMs, ESCAPE_MS);
  clock.advance(ESCAPE_MS);
  assert.equal(pane.escapeWaitMs, 0);
});

Deno.test("model: after the clock was set back, a stable draft counts and Escape is read as soon as otherwise, and no sooner [inj-fresh-screen, inj-after-escape]", () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    const { clock, pane } = makeBench();
    pane.observed(composer("x"), CLAUDE);
    clock.advance(CALM_MS);
    pane.keyTyped(afterInput(pane.model, { type: "key", key: "Escape" }, clock.now()));
    pane.observed(composer("x"), CLAUDE);
    clock.jump(jumpMs);
    assert.deepEqual([pane.isCalm, pane.escapeWaitMs], [false, ESCAPE_MS]);
    pane.observed(composer("x"), CLAUDE);
    clock.advance(Math.max(VIEW_CALM_MS, ESCAPE_MS));
    assert.deepEqual([pane.isCalm, pane.escapeWaitMs], [true, 0]);
  }
});

Deno.test("gate: after the clock was set back, hooks that report while the session is known hold its dialogs back [inj-turn]", () => {
  const { clock, inputs, report, pane } = makeBench();
  const created = Math.floor(clock.now() / 1_000);
  clock.jump(-3_600_000);
  inputs.hook(report("SessionStart"));
  assert.equal(pane.isGated(CLAUDE, created), false, "the hook may be of the session before");
  clock.advance(1);
  inputs.hook(report("PostToolUse"));
  assert.equal(pane.isGated(CLAUDE, created), true);
  assert.equal(pane.isGated(CLAUDE, created + 60), false, "another session of this name");
});

Deno.test("pane input: inputs run one at a time, even if one fails [inj-one-at-a-time]", async () => {
  const { pane } = makeBench();
  const order: string[] = [];
  const first = pane.alone(async () => {
    await turns();
    order.push("first");
    throw new Error("broken");
  }).catch(() => order.push("failed"));
  const second = pane.alone(() => Promise.resolve(void order.push("second")));
  await Promise.all([first, second]);
  assert.deepEqual([...order].sort(), ["failed", "first", "second"]);
  assert.ok(order.indexOf("first") < order.indexOf("second"));
});
