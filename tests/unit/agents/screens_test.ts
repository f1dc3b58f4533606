/** Every screen captured from a real agent is read by that agent's profile as described in its `meta.json`. */
import assert from "node:assert/strict";
import type { Screen } from "../../../src/agents/profile.ts";
import { agentProfile, unknownAgent } from "../../../src/agents/profiles.ts";
import { AGENT_KINDS } from "../../../src/agents/registry.ts";
import { type AgentScreen, agentScreens } from "../../helpers/agent_screens.ts";

for (const { kind, name, screen, expect } of agentScreens()) {
  Deno.test(`the ${kind} profile reads the screen "${name}" [inj-profile, ls-state-order]`, () => {
    assert.deepEqual(agentProfile(kind).readScreen(screen), expect);
  });
}

/** How many rows of a frame with its footer the fake shows. */
const FAKE_ROWS = 16;

/** Returns the dialog with the end of a screen with a composer printed above it. */
function withFake(dialog: AgentScreen, composer: AgentScreen): Screen {
  const fake = composer.screen.lines.filter((line) => line.trim() !== "").slice(-FAKE_ROWS);
  const first = dialog.screen.lines.findIndex((line) => line.trim() !== "");
  const { lines } = dialog.screen;
  const above = first > FAKE_ROWS ? lines.slice(0, first - fake.length) : [];
  const moved = first > FAKE_ROWS ? 0 : fake.length - above.length;
  const cursor = { ...dialog.screen.cursor, y: dialog.screen.cursor.y + moved };
  return {
    ...dialog.screen,
    lines: [...above, ...fake, ...lines.slice(first > FAKE_ROWS ? first : 0)],
    cursor,
  };
}

for (const kind of AGENT_KINDS) {
  const screens = agentScreens().filter((one) => one.kind === kind);
  const composers = screens.filter(({ expect }) => expect.focus === "composer");
  const { readScreen } = agentProfile(kind);

  Deno.test(`what ${kind} prints above a dialog or a menu is never taken for its composer [read-spoofed]`, () => {
    const others = screens.filter(({ expect }) => expect.focus === "dialog" || expect.focus === "menu");
    const passed = others.flatMap((other) =>
      composers.filter((composer) => readScreen(withFake(other, composer)).focus === "composer")
        .map(({ name }) => `${name} above ${other.name}`)
    );
    assert.deepEqual(passed, []);
  });

  Deno.test(`what ${kind} prints above a dialog is never taken for a harmless screen [read-spoofed, read-menus]`, () => {
    const dialogs = screens.filter(({ expect }) => expect.focus === "dialog");
    const menus = screens.filter(({ expect }) => expect.focus === "menu");
    const passed = dialogs.flatMap((dialog) =>
      menus.filter((menu) => readScreen(withFake(dialog, menu)).focus === "menu")
        .map(({ name }) => `${name} above ${dialog.name}`)
    );
    assert.deepEqual(passed, []);
  });

  Deno.test(`an editor that shows a copy of a screen of ${kind} is unknown [read-positive]`, () => {
    const passed = composers.filter(({ screen }) =>
      readScreen({ ...screen, applicationKeys: true }).focus !== "unknown" ||
      readScreen(inVi(screen)).focus === "composer"
    );
    assert.deepEqual(passed.map(({ name }) => name), []);
  });
}

/** Returns the screen as vi shows a file with it: vi's own row comes last, and the cursor is visible. */
function inVi({ lines, title, cursor }: Screen): Screen {
  const own = `"copy" ${lines.length}L, 900B`;
  return { lines: [...lines.slice(0, -1), own], title, cursor: { ...cursor, visible: true } };
}

Deno.test("no agent takes another agent's screen for its own composer [read-positive]", () => {
  const screens = agentScreens();
  const wrong = screens.flatMap(({ kind, name, screen }) =>
    AGENT_KINDS.filter((other) =>
      other !== kind && agentProfile(other).readScreen(screen).focus === "composer"
    )
      .map((other) => `${kind} ${name} as ${other}`)
  );
  assert.deepEqual(wrong, []);
});

Deno.test("a conversation about Claude's agents is not taken for the list of them, whatever its title says [inj-profile]", () => {
  const { readScreen } = agentProfile("cc");
  const of = (name: string): AgentScreen[] =>
    agentScreens().filter((one) => one.kind === "cc" && one.name === name);
  for (const { screen, expect } of of("start")) {
    for (const title of ["✳ Configure claude agents", "✳ Review PR · fix claude agents"]) {
      assert.deepEqual(readScreen({ ...screen, title }), expect, title);
    }
  }
  for (const { screen, expect } of of("agents_view_80x24")) {
    for (const title of ["claude agents", "✳ claude agents", "2 working · claude agents"]) {
      assert.deepEqual(readScreen({ ...screen, title }), expect, title);
    }
  }
});

Deno.test("a pane of no known agent waits at every agent's dialogs for tools and trust [inj-dialog]", () => {
  const asked = agentScreens().filter(({ name }) => /^(permission|trust|question)(_|$)/.test(name));
  const missed = asked.filter(({ screen }) => unknownAgent.readScreen(screen).focus !== "dialog");
  assert.deepEqual(missed.map(({ kind, name }) => `${kind} ${name}`), []);
});
