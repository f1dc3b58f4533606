/** Each agent's screen reader, with recorded screens whose rows are changed, moved, cut and replaced. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Screen, ScreenReading } from "../../src/agents/profile.ts";
import { agentProfile, unknownAgent } from "../../src/agents/profiles.ts";
import { compiledMarks } from "../../src/agents/read_screen.ts";
import { AGENT_KINDS } from "../../src/agents/registry.ts";
import {
  DIALOG_MAX_CHARS,
  dialogText,
  lastLine,
  LINE_MAX_CHARS,
  readUsageLimit,
} from "../../src/agents/screen_texts.ts";
import { agentScreens } from "../helpers/agent_screens.ts";
import { anyText, fuzz } from "./cases.ts";

const recorded = agentScreens();
const rows = [...new Set(recorded.flatMap(({ screen }) => screen.lines))];
const PROFILES = [
  ...AGENT_KINDS.map((kind) => ({ kind, profile: agentProfile(kind) })),
  { kind: "unknown", profile: unknownAgent },
];

const anyRow = fc.oneof(
  { arbitrary: fc.constantFrom(...rows), weight: 6 },
  { arbitrary: anyText.map((text) => text.replaceAll("\n", " ")), weight: 2 },
  {
    arbitrary: fc.constantFrom("❯ ", "› ", "│ > ", "> ", "─".repeat(80), "1. Yes", "  ❯ 2. No", ":", "~"),
    weight: 1,
  },
);

type Change = (lines: string[]) => string[];
const change: fc.Arbitrary<Change> = fc.tuple(
  fc.constantFrom("replace", "insert", "remove", "cut", "shift", "swap"),
  fc.nat(),
  anyRow,
).map(([kind, at, row]): Change => (lines) => {
  const index = at % (lines.length + 1);
  switch (kind) {
    case "replace":
      return lines.with(Math.min(index, lines.length - 1), row);
    case "insert":
      return lines.toSpliced(index, 0, row);
    case "remove":
      return lines.length > 1 ? lines.toSpliced(Math.min(index, lines.length - 1), 1) : lines;
    case "cut":
      return lines.map((line) => line.slice(0, 10 + index));
    case "shift":
      return lines.map((line) => " ".repeat(index % 4) + line);
    default:
      return [...lines.slice(index), ...lines.slice(0, index)];
  }
});

const cursor = fc.record({
  x: fc.integer({ min: 0, max: 250 }),
  y: fc.integer({ min: 0, max: 60 }),
  visible: fc.boolean(),
});

const screens: fc.Arbitrary<Screen> = fc.tuple(
  fc.constantFrom(...recorded),
  fc.array(change, { maxLength: 6 }),
  fc.option(cursor),
  fc.option(anyText),
  fc.boolean(),
).map(([{ screen }, changes, moved, title, applicationKeys]) => ({
  lines: changes.reduce((lines, one) => one(lines), [...screen.lines]),
  title: title ?? screen.title,
  cursor: moved ?? screen.cursor,
  applicationKeys: applicationKeys && changes.length > 2,
}));

const FOCUS = ["composer", "dialog", "menu", "unknown"];

function checkReading(screen: Screen, reading: ScreenReading): void {
  assert.ok(FOCUS.includes(reading.focus));
  assert.equal(reading.focus === "composer", reading.draft !== undefined && reading.focus !== "unknown");
  assert.equal(reading.menu !== undefined, reading.focus === "menu");
  if (screen.applicationKeys) assert.equal(reading.focus, "unknown", "an editor passes for the agent");
}

for (const { kind, profile } of PROFILES) {
  Deno.test(`the ${kind} reader reads any screen, with the same result twice [fuzz-100k]`, () => {
    const marks = compiledMarks(profile.dialog);
    fuzz(`screen of ${kind}`, screens, {
      holds: (screen) => {
        const reading = profile.readScreen(screen);
        checkReading(screen, reading);
        assert.deepEqual(profile.readScreen(screen), reading);
        assert.ok(dialogText(screen.lines, marks).length <= DIALOG_MAX_CHARS);
        const line = lastLine(screen.lines, { reading, cursorRow: screen.cursor.y });
        assert.ok((line?.length ?? 0) <= LINE_MAX_CHARS + 1);
        readUsageLimit(screen.lines, 0);
      },
    });
  });
}
