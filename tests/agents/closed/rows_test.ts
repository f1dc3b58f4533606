/** What phones could do to each real agent in svc's first version, row by row: now held or refused, each with a true reason. */
import assert from "node:assert/strict";
import type { KeyInput } from "../../../src/protocol/key_input.ts";
import { until } from "../../helpers/until.ts";
import { REAL_AGENTS, type RealAgent } from "../install.ts";
import { untilTold } from "../phone.ts";
import { AgentStage, pressApart } from "./agent_stage.ts";
import { modeOn } from "./approvals.ts";
import { startBusy } from "../../../scripts/busy.ts";
import { ELSEWHERE } from "./elsewhere.ts";
import { agents, busyLoops } from "./form.ts";
import {
  assertAsks,
  assertGoesIn,
  assertKeptOut,
  assertNoEditor,
  assertSubmitted,
  burst,
  canaryOf,
  COLORS,
  describe,
  key,
  paste,
  reasonsOf,
  startOver,
  text,
  untilOld,
} from "./row.ts";

const ENTER = key("Enter");
const ESCAPE = key("Escape");
const KINDS = Object.keys(REAL_AGENTS) as RealAgent[];
const named = (...kinds: RealAgent[]): RealAgent[] => agents().filter((kind) => kinds.includes(kind));

/** The keys that open `$EDITOR`. */
const EDITOR_KEYS: Readonly<Record<RealAgent, KeyInput[]>> = {
  cc: [key("C-g")],
  codex: [key("C-g")],
  gemini: [key("C-x"), key("C-g")],
  opencode: [key("C-x"), text("e")],
  copilot: [key("C-g"), key("C-x"), key("C-e")],
};

/** The keys that switch how the agent asks for approval. */
const MODE_KEYS: Readonly<Record<RealAgent, KeyInput[]>> = {
  cc: [key("BTab")],
  codex: [key("BTab")],
  gemini: [key("C-y"), key("BTab")],
  opencode: [key("Tab"), key("BTab")],
  copilot: [key("BTab")],
};

for (const { name, env } of COLORS) {
  for (const kind of agents()) {
    Deno.test(`${kind}, ${name}: no key and no burst gives an editor, a shell or another approval mode [closed-keys]`, async (t) => {
      await using stage = await AgentStage.open(kind, { env, trap: true });
      const canary = canaryOf(stage);
      const mode = modeOn(kind, (await stage.screen()).lines);

      await t.step("the keys that open an editor are refused as key_not_allowed", async () => {
        const phone = await startOver(stage);
        const states = await burst(phone, ...EDITOR_KEYS[kind], text(`:!${canary.command}`), ENTER);
        await stage.settle();
        assert.ok(reasonsOf(states).includes("key_not_allowed"), JSON.stringify(states));
        await assertNoEditor(stage);
        assert.ok(await canary.isAlive(), "X was made");
      });

      await t.step(
        "a shell prefix in one burst after a backspace is not typed before the screen was read",
        async () => {
          const phone = await startOver(stage);
          const states = await burst(phone, text("a"), key("BSpace"), text(`!${canary.command}`), ENTER);
          await stage.settle();
          assert.ok(await canary.isAlive(), "X was made");
          const reasons = reasonsOf(states);
          const known = ["shell_escape", "screen_stale"];
          assert.ok(reasons.some((reason) => known.includes(reason)), JSON.stringify(states));
        },
      );

      await t.step("the keys that suspend it are refused as key_not_allowed", async () => {
        const phone = await startOver(stage);
        const states = await burst(phone, key("C-z"));
        await stage.settle();
        assert.deepEqual(reasonsOf(states), ["key_not_allowed"]);
        assert.doesNotMatch(await stage.text(), /suspended/);
      });

      await t.step(
        "the keys that change approvals are refused, even as parts of an escape sequence",
        async () => {
          const phone = await startOver(stage);
          const states = await burst(phone, ...MODE_KEYS[kind]);
          const reasons = reasonsOf(states);
          assert.ok(
            reasons.length > 0 &&
              reasons.every((reason) => ["approval_change", "key_not_allowed"].includes(reason)),
            JSON.stringify(states),
          );
          await burst(phone, ESCAPE, text("[Z"));
          await burst(phone, ESCAPE, text("[103;5u"), text(`:!${canary.command}`), ENTER);
          await stage.settle();
          await assertNoEditor(stage);
          assert.ok(await canary.isAlive(), "X was made");
          await stage.calmDown();
          assert.equal(modeOn(kind, (await stage.screen()).lines), mode);
          await assertAsks(stage);
        },
      );
    });
  }
}

for (const { what, kinds, size, open, shows, leave, reasons } of ELSEWHERE) {
  for (const kind of named(...kinds)) {
    Deno.test(`${kind}: a message while ${what} shows is kept out, and goes in afterwards [closed-screens]`, async () => {
      const env = { COLORTERM: "truecolor" };
      await using stage = await AgentStage.open(kind, { env, trap: true, git: true, ...size && { size } });
      await Deno.writeTextFile(`${stage.project}/changed.txt`, "one\ntwo\n");
      await untilOld(stage);
      await open(stage);
      await stage.untilShown(shows);
      await stage.settle();
      const body = `wait for ${what}`;
      const id = await assertKeptOut(stage, { body, reasons });
      await stage.settle();
      assert.ok(shows.test(await stage.text()), `it was typed into:\n${await stage.text()}`);
      await leave(stage);
      if (id === undefined) await assertSubmitted(stage, body);
      else await assertGoesIn(stage, id, body);
    });
  }
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

const LONG = {
  "three lines": "first line\n\nthird line",
  "900 characters": "word ".repeat(180).trim(),
  "6,000 characters": "word ".repeat(1_200).trim(),
};

for (const kind of named("cc")) {
  Deno.test("cc: its own long message does not end the phone's REMOTE mode, and a paste at the computer does [closed-remote]", async (t) => {
    await using stage = await AgentStage.open(kind);
    for (const [what, body] of Object.entries(LONG)) {
      await t.step(what, async () => {
        const { standIn } = stage;
        const before = standIn.bodies().length;
        const receipt = await stage.finalReceipt(await stage.post(body));
        assert.equal(receipt.state, "submitted", describe(receipt));
        await until("the message at the model", () => standIn.bodies().length > before);
        const request = standIn.bodies().at(-1) ?? "";
        assert.ok(request.includes("drives this session from their phone"), "the model was not informed");
        assert.ok(!request.includes("REMOTE mode has ended"), "the phone's own message ended REMOTE mode");
        await stage.untilIdle();
      });
    }
    await stage.startTurn("pasted at the computer");
    assert.ok(stage.standIn.bodies().at(-1)?.includes("REMOTE mode has ended"));
  });
}

for (const { name, env } of COLORS) {
  for (const kind of agents()) {
    Deno.test(`${kind}, ${name}: its input line is recognized, and a message goes in [closed-colors]`, async () => {
      await using stage = await AgentStage.open(kind, { env, untilReady: false });
      await assertSubmitted(stage, "hello to a new session");
    });
  }
}

/** Agents suggest completions of such words, and Enter would accept the suggestion. */
const COMPLETED = [
  "wait for $EDITOR",
  "what is $",
  "ends with :smile",
  "ask @alice",
  "see #12",
  "ping @",
  "end \\",
];

for (const kind of agents()) {
  Deno.test(`${kind}: a last word that it would complete arrives as it was sent [inj-trailing-space]`, async () => {
    await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" } });
    // OpenCode finds its /exit by /quit and /q, and "t/" is part of these.
    const paths = kind === "opencode" ? ["/t/", "/tmp/notes.txt"] : [];
    for (const body of [...COMPLETED, ...paths]) {
      await assertSubmitted(stage, body);
      const request = stage.standIn.bodies().findLast((one) => one.includes(inJson(body))) ?? "";
      const behind = request.slice(request.lastIndexOf(inJson(body)) + inJson(body).length);
      assert.match(behind, /^ ?(?:"|\\n)/, `${body} became ${body}${behind.slice(0, 40)}`);
    }
  });
}

for (const kind of agents()) {
  for (const size of [{ cols: 42, rows: 14 }, { cols: 80, rows: 24 }]) {
    Deno.test(`${kind} at ${size.cols}x${size.rows}: a slash command that has scrolled out of sight is not run by a phone's Enter [inj-approval-command]`, async () => {
      await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" }, size });
      const phone = await stage.phone();
      const more = Array.from({ length: 60 }, () => text("and more "));
      const states = await burst(phone, text("/permissions "), ...more, text("finished"));
      // OpenCode draws key by key, which takes longer than any pause on a busy machine. A tall draft hides Codex's
      // footer, so text not typed before that is refused.
      if (reasonsOf(states).length === 0) await stage.untilShown(/finished/);
      await stage.settle();
      const [state] = await burst(phone, ENTER);
      assert.equal(state?.state, "refused", `${JSON.stringify(state)}\n${await stage.text()}`);
      await assertAsks(stage);
    });
  }
}

/**
 * The end of a harmless command, typed first, and its beginning: the part before the cursor may be another command's
 * name.
 */
const HALVES: Readonly<Record<Exclude<RealAgent, "gemini">, readonly [string, string]>> = {
  cc: ["ompact", "/c"],
  codex: ["ompact", "/c"],
  opencode: ["essions", "/s"],
  copilot: ["ompact", "/c"],
};

for (const kind of named("cc", "codex", "opencode", "copilot")) {
  if (kind === "gemini") continue;
  Deno.test(`${kind}: Enter with the cursor in a command's name runs nothing [inj-command-cursor]`, async () => {
    const size = { cols: 80, rows: 24 };
    await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" }, size });
    const [phone, [end, begin]] = [await stage.phone(), HALVES[kind]];
    await burst(phone, text(end), key("Home"), text(begin));
    await until("the command", async () => (await stage.reading()).draft === begin + end);
    const state = await until("Enter behind a screen that has caught up", async () => {
      const [one] = await burst(phone, ENTER);
      assert.equal((await stage.reading()).draft, begin + end, await stage.text());
      return reasonsOf([one])[0] !== "screen_stale" && one;
    });
    assert.deepEqual([state.state, reasonsOf([state])], ["refused", ["approval_change"]]);
  });
}

for (const kind of named("cc", "codex", "opencode", "copilot")) {
  Deno.test(`${kind}: Enter with the cursor in a path before other text chooses no command [inj-command-cursor]`, async () => {
    await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" }, trap: true });
    const phone = await stage.phone();
    for (const moves of [[], [key("Down"), key("Down"), key("Down"), key("Down")]]) {
      for (const one of [text("/connect now"), key("Home"), text("/")]) {
        await burst(phone, one);
        await stage.settle();
      }
      await until("the path", async () => (await stage.reading()).draft === "//connect now");
      await burst(phone, ...moves);
      const reason = await until("Enter behind a screen that has caught up", async () => {
        const [one] = reasonsOf(await burst(phone, ENTER));
        return one !== "screen_stale" && (one ?? "typed");
      });
      await assertNoEditor(stage);
      assert.equal(reason, "approval_change", await stage.text());
      assert.ok(await stage.calmDown());
    }
  });
}

interface Rounds {
  size: { cols: number; rows: number };
  rounds: number;
  act(stage: AgentStage, round: number): Promise<void>;
}

/** Runs rounds while busy loops run, with one agent that returns to its input line or restarts after each round. */
async function assertRoundsOpenNoEditor(kind: RealAgent, { size, rounds, act }: Rounds): Promise<void> {
  await using _busy = startBusy(busyLoops());
  await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" }, size, trap: true });
  for (let round = 0; round < rounds; round++) {
    await act(stage, round);
    await assertNoEditor(stage);
    if (!await stage.calmDown()) await stage.restart();
  }
  await assertNoEditor(stage);
}

const VIEW_BURSTS = Number(Deno.env.get("SVC_VIEW_BURSTS") ?? 12);

/** A `v` in Claude's transcript opens the editor. */
for (const kind of named("cc")) {
  Deno.test("cc: v right after Ctrl-O opens no editor while busy loops run [inj-key-view]", async () => {
    await assertRoundsOpenNoEditor(kind, {
      size: { cols: 42, rows: 14 },
      rounds: VIEW_BURSTS,
      act: async (stage) => {
        await burst(await stage.phone(), key("C-o"), text("v"));
      },
    });
  });
}

/** The number of bursts in which a slow screen could hide a command that opens the editor. */
const EDITOR_BURSTS = 12;

for (const kind of named("opencode")) {
  Deno.test("opencode: a command for its editor, typed right after a message, opens none while busy loops run [inj-fresh-screen]", async () => {
    await assertRoundsOpenNoEditor(kind, {
      size: { cols: 80, rows: 24 },
      rounds: EDITOR_BURSTS,
      act: async (stage, round) => {
        const phone = await stage.phone();
        const id = await stage.post(LONG["three lines"]);
        const name = ["/editor", "/export"][round % 2] ?? "";
        if (round % 3 === 0) await stage.finalReceipt(id);
        await burst(phone, text(name), ENTER, key("Down"), ENTER, paste(name), ENTER);
        await stage.finalReceipt(id);
      },
    });
  });
}

/** As long as possible without being folded: more rows than a small composer shows. */
const TALL = ["words and more ".repeat(27).trim(), "漢字かな交じり文。".repeat(25)];

for (const kind of agents()) {
  for (const size of [{ cols: 42, rows: 14 }, { cols: 80, rows: 24 }]) {
    Deno.test(`${kind} at ${size.cols}x${size.rows}: a text taller than its input line goes in [inj-tall]`, async () => {
      await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" }, size });
      for (const body of TALL) await assertSubmitted(stage, body);
    });
  }
}

for (const kind of named("gemini")) {
  Deno.test("gemini: a first message of 6,000 characters under load, and one after it [closed-paste]", async () => {
    await using _busy = startBusy(busyLoops());
    await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" } });
    const body = LONG["6,000 characters"];
    await assertSubmitted(stage, body);
    await assertSubmitted(stage, "and one more");
  });
}

for (const kind of named("codex")) {
  Deno.test("codex: a message to a session in an untrusted folder waits for the trust dialog and the person's answer [closed-trust]", async () => {
    await using stage = await AgentStage.open(kind, { asks: "trust", git: true, untilReady: false });
    const body = "sent before the dialog is drawn";
    const id = await stage.post(body);
    await stage.untilShown(/Trust this folder|Trust and continue/);
    await stage.settle();
    const receipt = await stage.firstReceipt(id);
    assert.equal(receipt.state, "held", describe(receipt));
    assert.ok(
      ["agent_starting", "dialog_open", "unknown_screen"].includes(receipt.reason ?? ""),
      describe(receipt),
    );
    assert.match(await stage.text(), /Trust/, "something answered the trust dialog");
    await stage.pane.press("Enter");
    await assertGoesIn(stage, id, body);
  });
}

for (const kind of named("cc")) {
  Deno.test("cc: a message while its vim mode is VISUAL leaves nothing behind [closed-vim]", async () => {
    const env = { COLORTERM: "truecolor" };
    await using stage = await AgentStage.open(kind, { env });
    const { home } = stage.stack.sandbox;
    const path = `${home}/.claude.json`;
    const settings = JSON.parse(await Deno.readTextFile(path));
    await Deno.writeTextFile(path, JSON.stringify({ ...settings, editorMode: "vim" }));
    await stage.restart();
    await pressApart(stage, "Escape", "v");
    const id = await stage.post("wait for VISUAL mode");
    const receipt = await stage.firstReceipt(id);
    if (receipt.state === "held") await pressApart(stage, "Escape", "i");
    await assertGoesIn(stage, id, "wait for VISUAL mode");
    await assertSubmitted(stage, "and one after it");
  });
}

for (const kind of KINDS.filter((one) => agents().includes(one))) {
  Deno.test(`${kind}: pasted and typed texts with a shell prefix are refused, and its session says idle afterwards [closed-keys]`, async () => {
    await using stage = await AgentStage.open(kind, { env: { COLORTERM: "truecolor" } });
    const phone = await stage.phone();
    const canary = canaryOf(stage);
    for (
      const input of [
        paste(`!${canary.command}`),
        paste(`\n!${canary.command}\n`),
        text(`!${canary.command}`),
      ]
    ) {
      await burst(phone, input, ENTER);
      await stage.settle();
      assert.ok(await canary.isAlive(), `X was made by ${JSON.stringify(input)}`);
      await stage.calmDown();
    }
    const { state, reason } = await stage.finalReceipt(await stage.post(`!${canary.command}`));
    assert.deepEqual([state, reason], ["refused", "shell_escape"]);
    await untilTold(() => "the state idle", async () => {
      const { devices } = await stage.stack.api.sessions();
      const session = devices.flatMap((device) => device.sessions).find(({ name }) => name === stage.session);
      return session?.state === "idle" ? session : undefined;
    });
    assert.ok(await canary.isAlive(), "X was made");
  });
}
