/** Permission dialogs, shell escapes and markers, with the real echo agent in a real tmux. */
import assert from "node:assert/strict";
import { attachClient } from "../helpers/attached_client.ts";
import { makeEchoBench } from "../helpers/echo_bench.ts";
import { CLOCK } from "../helpers/inject_bench.ts";
import { until } from "../helpers/until.ts";
import { DEFAULT_POLICY } from "../helpers/fake_pane.ts";

Deno.test("dialog: while it is open the message is held and nothing is typed; then it is typed [inj-dialog, show-echo, auth-permission]", async () => {
  await using bench = await makeEchoBench();
  await bench.control({ op: "permit" });
  const sent = bench.send("after the dialog");
  await until("the hold", () => bench.events.includes("held dialog_open"));
  assert.ok(!bench.events.includes("typing"));
  await bench.control({ op: "deny" });
  assert.equal((await sent).state, "submitted");
  await bench.untilPrompts(["after the dialog"]);
  assert.deepEqual(await bench.entriesWith("dialogInput"), []);
  assert.deepEqual((await bench.entriesWith("approved")).map((entry) => entry.approved), [false]);
});

Deno.test("dialog: one that opens between typing and Enter gets no Enter; the marker is withdrawn meanwhile [inj-dialog-again, inj-marker-back, inj-marker-before, show-echo]", async () => {
  await using bench = await makeEchoBench();
  let opened = false;
  bench.onRecord = async (step) => {
    if (step !== "typed" || opened) return;
    opened = true;
    await until("the text in the composer", async () => (await bench.screen()).includes("❯ typed before"));
    await bench.control({ op: "permit" });
  };
  const sent = bench.send("typed before the dialog");
  await until("the hold", () => bench.events.includes("held dialog_open"));
  const atHold = bench.events.slice();
  assert.deepEqual(atHold.slice(0, 5), [
    "marker written",
    "typing",
    "typed",
    "marker withdrawn",
    "held dialog_open",
  ]);
  assert.deepEqual(await bench.entriesWith("approved"), []);
  await bench.control({ op: "deny" });
  assert.equal((await sent).state, "submitted");
  await bench.untilPrompts(["typed before the dialog"]);
  assert.deepEqual(bench.events.slice(5, 6), ["marker written"]);
});

Deno.test("dialog: a tool call waits until the agent has read Enter, however slow the machine is [inj-gate, gate-waits]", async () => {
  await using bench = await makeEchoBench({ holdEnter: true });
  const sent = bench.send("before the tool");
  await until("Enter", () => bench.events.filter((event) => event === "typed").length === 2);
  let hasBegun = false;
  const call = bench.toolBegins().then(() => {
    hasBegun = true;
  });
  assert.match(await bench.screen(), /❯ before the tool/u);
  assert.equal(hasBegun, false, "its dialog would take Enter for the answer");
  await bench.releaseEnter();
  await call;
  assert.doesNotMatch(await bench.screen(), /❯ before the tool/u);
  assert.equal((await sent).state, "submitted");
  await bench.untilPrompts(["before the tool"]);
});

Deno.test("dialog: a message held past its time expires with nothing typed [inj-dialog-expires, proto-push-ttl]", async () => {
  await using bench = await makeEchoBench();
  await bench.control({ op: "permit" });
  bench.setClock(CLOCK.quick);
  const outcome = await bench.send("too late", { expiresInMs: 2_000 });
  assert.equal(outcome.state, "expired");
  assert.ok(!bench.events.includes("typing"));
});

Deno.test("dialog: a host may let the phone answer it [inj-dialog-allowed]", async () => {
  await using bench = await makeEchoBench({ policy: { ...DEFAULT_POLICY, approval: "once" } });
  await bench.control({ op: "permit" });
  bench.setClock(CLOCK.quick);
  await bench.send("yes");
  await until("the approval", async () => (await bench.entriesWith("approved")).length === 1);
});

Deno.test("shell escape: a body that begins with ! is refused unless the host allows it [inj-shell-escape]", async () => {
  await using bench = await makeEchoBench();
  for (const body of ["!ls", "  !ls", "\n!ls"]) {
    assert.deepEqual(await bench.send(body), { state: "refused", reason: "shell_escape", pane: "%0" });
  }
  assert.deepEqual(bench.events, []);
  await using open = await makeEchoBench({ policy: { ...DEFAULT_POLICY, allowShellEscape: true } });
  assert.equal((await open.send("!ls")).state, "submitted");
  await until("the prompt", async () => (await open.prompts())[0] === "!ls");
});

Deno.test("local user: a draft in the input line holds the message until it is refused; sendAnyway types after the draft [inj-local-user, inj-draft, inj-send-anyway]", async () => {
  await using bench = await makeEchoBench();
  await bench.sandbox.tmux("send-keys", "-l", "-t", `=${bench.session}:`, "half a thought ");
  await until("the draft", async () => (await bench.screen()).includes("half a thought"));
  bench.setClock(CLOCK.quick);
  assert.deepEqual(await bench.send("mine"), { state: "refused", reason: "desk_busy", pane: "%0" });
  assert.deepEqual(bench.events, ["held desk_busy"]);
  bench.setClock(CLOCK.slow);
  assert.equal((await bench.send("mine", { sendAnyway: true })).state, "submitted");
  await until("the prompt", async () => (await bench.prompts())[0] === "half a thought mine");
});

/** How a terminal comes to show the agent: the session that it attaches, and the commands that make it. */
const WAYS_TO_SEE: Record<string, (session: string) => { attached: string; commands: string[][] }> = {
  "its own session": (attached) => ({ attached, commands: [] }),
  "a session of its group": (session) => ({
    attached: "second",
    commands: [["new-session", "-d", "-t", `=${session}`, "-s", "second"]],
  }),
  "a session that its window is linked into": (session) => ({
    attached: "second",
    commands: [["new-session", "-d", "-s", "second", "cat"], [
      ...["link-window", "-s", `=${session}:`, "-t", "=second:"],
    ]],
  }),
};

Deno.test("local user: a key holds the message until the keyboard is quiet, whichever session the terminal shows the agent in [inj-local-user]", async (t) => {
  for (const [name, way] of Object.entries(WAYS_TO_SEE)) {
    await t.step(name, async () => {
      let now = Date.now;
      await using bench = await makeEchoBench({ now: () => now() });
      const { attached, commands } = way(bench.session);
      for (const command of commands) await bench.sandbox.tmux(...command);
      using user = await attachClient(bench.sandbox, { session: attached });
      await user.press("x");
      await until("the key's effect", async () => /^❯ x/mu.test(await bench.screen()));
      await user.press("\x7f");
      await until("an empty input line", async () => /^❯\s*$/mu.test(await bench.screen()));
      // However late the message really is, it comes right after the key, and the keyboard becomes quiet once it is
      // held.
      const keyAt = await user.keyAt();
      now = () => keyAt;
      let outcome: unknown;
      const sent = bench.send("after the person").then((final) => outcome = final);
      await until("the hold", () => bench.events.includes("held desk_busy") || outcome !== undefined);
      assert.deepEqual([bench.events, outcome], [["held desk_busy"], undefined]);
      now = Date.now;
      assert.equal((await sent).state, "submitted");
      await bench.untilPrompts(["after the person"]);
    });
  }
});

Deno.test("local user: a key in another window of a grouped session holds no message [inj-local-user]", async () => {
  let now = Date.now;
  await using bench = await makeEchoBench({ now: () => now() });
  await bench.sandbox.tmux("new-session", "-d", "-t", `=${bench.session}`, "-s", "second");
  await bench.sandbox.tmux("new-window", "-t", "=second:", "cat");
  using user = await attachClient(bench.sandbox, { session: "second" });
  await user.press("typed elsewhere");
  await until("the key's effect", async () => (await bench.sandbox.screen("second")).includes("elsewhere"));
  const keyAt = await user.keyAt();
  now = () => keyAt;
  let outcome: unknown;
  const sent = bench.send("to the agent").then((final) => outcome = final);
  await until("the end or a hold", () => outcome !== undefined || bench.events.includes("held desk_busy"));
  now = Date.now;
  assert.equal((await sent).state, "submitted");
  assert.ok(!bench.events.includes("held desk_busy"));
});

Deno.test("marker: it exists before Enter, is the canonical hash, and the agent takes it once [inj-marker-before, remote-marker, inj-6-marker, res-marker-once]", async () => {
  await using bench = await makeEchoBench({ realMarkers: true });
  const text = "e\u0301\twith tab ";
  assert.equal((await bench.send(text)).state, "submitted");
  await until("the agent's first entry", async () => (await bench.entriesWith("fromPhone")).length === 1);
  assert.deepEqual((await bench.entriesWith("fromPhone")).map((entry) => entry.fromPhone), [true]);
  await bench.sandbox.tmux("send-keys", "-l", "-t", `=${bench.session}:`, text);
  await bench.sandbox.tmux("send-keys", "-t", `=${bench.session}:`, "Enter");
  await until("the typed prompt", async () => (await bench.entriesWith("fromPhone")).length === 2);
  assert.equal((await bench.entriesWith("fromPhone"))[1]?.fromPhone, false);
});

Deno.test("leftovers: a text that was not submitted because of a dialog is removed before the next message is typed [inj-take-back]", async () => {
  await using bench = await makeEchoBench();
  let opened = false;
  bench.onRecord = async (step) => {
    if (step !== "typed" || opened) return;
    opened = true;
    await until("the text in the composer", async () => (await bench.screen()).includes("❯ never submitted"));
    await bench.control({ op: "permit" });
  };
  const first = bench.send("never submitted", { expiresInMs: 2_000 });
  await until("the hold", () => bench.events.includes("held dialog_open"));
  bench.setClock(CLOCK.quick);
  assert.deepEqual(await first, { state: "unknown", reason: "screen_stale", pane: "%0" });
  bench.setClock(CLOCK.slow);
  await bench.control({ op: "deny" });
  await until("the text that was left", async () => (await bench.screen()).includes("❯ never submitted"));
  assert.equal((await bench.send("the next one")).state, "submitted");
  await bench.untilPrompts(["the next one"]);
});

Deno.test("leftovers: a text that expires while the composer shows it is removed [inj-take-back]", async () => {
  await using bench = await makeEchoBench();
  bench.onRecord = async (step) => {
    if (step !== "typed") return;
    await until(
      "the text in the composer",
      async () => (await bench.screen()).includes("❯ too late for Enter"),
    );
    bench.setClock(1_000_000);
    await until("the end of its time", () => bench.now() > bench.expiresAt);
    bench.setClock(CLOCK.slow);
  };
  assert.deepEqual(await bench.send("too late for Enter", { expiresInMs: 60_000 }), {
    state: "expired",
    pane: "%0",
  });
  await until("an empty composer", async () => /^❯\s*$/mu.test(await bench.screen()));
  assert.deepEqual(await bench.prompts(), []);
});

Deno.test("leftovers: a message that the agent submits right before svc would remove it is submitted, not refused [inj-take-back, inj-proof]", async () => {
  await using bench = await makeEchoBench({ holdEnter: true, realMarkers: true });
  bench.onRemoval = async () => {
    bench.setClock(CLOCK.slow);
    await bench.releaseEnter();
  };
  const sent = bench.send("read late");
  await until("Enter", () => bench.events.filter((event) => event === "typed").length === 2);
  bench.setClock(CLOCK.quick);
  assert.deepEqual(await sent, { state: "submitted", pane: "%0" });
  await bench.untilPrompts(["read late"]);
});
