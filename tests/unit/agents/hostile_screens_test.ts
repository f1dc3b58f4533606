/** Reading a screen costs work in proportion to its size, whatever it shows, and no work beyond the cap. */
import assert from "node:assert/strict";
import type { Screen, ScreenReading } from "../../../src/agents/profile.ts";
import { dialogText, lastLine, readUsageLimit } from "../../../src/agents/screen_texts.ts";
import { agentProfile, unknownAgent } from "../../../src/agents/profiles.ts";
import { compiledMarks, MAX_SCREEN_COLUMNS, MAX_SCREEN_ROWS } from "../../../src/agents/read_screen.ts";
import { AGENT_KINDS } from "../../../src/agents/registry.ts";
import { hostileScreen, hostileScreens } from "../../helpers/hostile_screens.ts";

/** How often a reader may read each row, including for the menus. */
const LOOKS = 24;
/** Rows that are read regardless of the screen's size. */
const CONSTANT = 600;
const COUNT = 200;

type Read = (screen: Screen) => ScreenReading;
const READERS: [string, Read][] = [
  ...AGENT_KINDS.map((kind): [string, Read] => [kind, agentProfile(kind).readScreen]),
  ["unknown", unknownAgent.readScreen],
];

/** Returns how often a row was read during one reading. */
function looksOf(read: Read, screen: Screen): number {
  let looks = 0;
  const lines = new Proxy(screen.lines, {
    get(target, key, receiver) {
      if (typeof key === "string" && /^\d+$/.test(key)) looks++;
      return Reflect.get(target, key, receiver);
    },
  });
  read({ ...screen, lines });
  return looks;
}

for (const [name, read] of READERS) {
  Deno.test(`the ${name} reader reads each row of a hostile screen at most a few times [read-linear]`, () => {
    const worst = hostileScreens(COUNT).map(({ name, screen }) => {
      const looks = looksOf(read, screen);
      return { name, over: looks - LOOKS * screen.lines.length - CONSTANT };
    }).filter(({ over }) => over > 0);
    assert.deepEqual(worst, []);
  });
}

/** How many times one screen is read; the shortest time counts, since others were interrupted. */
const READINGS = 9;

function shortest(read: (screen: Screen) => unknown, screen: Screen): number {
  const times = Array.from({ length: READINGS }, () => {
    const start = performance.now();
    read(screen);
    return performance.now() - start;
  });
  return Math.min(...times);
}

const marks = compiledMarks(agentProfile("cc").dialog);
const reading: ScreenReading = { state: undefined, focus: "unknown", draft: undefined };

/** Other texts that are read from a screen. */
const TEXTS: [string, (screen: Screen) => unknown][] = [
  ["dialog's text", ({ lines }) => dialogText(lines, marks)],
  ["last line", ({ lines, cursor }) => lastLine(lines, { reading, cursorRow: cursor.y })],
  ["usage limit", ({ lines }) => readUsageLimit(lines, 0)],
];

/** Returns the time of one reading of every kind of line, in milliseconds. */
function timeOf(read: (screen: Screen) => unknown, columns: number): number {
  const screens = Array.from(
    { length: COUNT / 4 },
    (_, at) => hostileScreen(at, { columns, rows: 60 }).screen,
  );
  return screens.reduce((sum, screen) => sum + shortest(read, screen), 0);
}

/** Four times the columns take four times as long, or sixteen times if the work grows with their square. */
const GROWTH_LIMIT = 10;
/** Below this, the clock's resolution and other work on the machine dominate. */
const FLOOR_MS = 5;

for (const [name, read] of [...READERS, ...TEXTS]) {
  Deno.test(`the ${name} reader's work grows with the columns, not with their square [read-linear]`, () => {
    const columns = MAX_SCREEN_COLUMNS / 4;
    const [narrow, wide] = [timeOf(read, columns), timeOf(read, 4 * columns)];
    assert.ok(wide < FLOOR_MS + GROWTH_LIMIT * narrow, `${narrow} ms, then ${wide} ms`);
  });
}

Deno.test("no reader reads a screen beyond the cap [read-linear]", () => {
  const beyond = hostileScreens(COUNT).filter(({ screen }) =>
    screen.lines.length > MAX_SCREEN_ROWS || (screen.lines[0]?.length ?? 0) > MAX_SCREEN_COLUMNS
  );
  assert.ok(beyond.length > 0);
  for (const { name, screen } of beyond) {
    for (const [reader, read] of READERS) {
      assert.deepEqual(
        read(screen),
        { state: undefined, focus: "unknown", draft: undefined },
        `${reader}, ${name}`,
      );
    }
  }
});

Deno.test("no hostile screen passes for a composer [read-linear]", () => {
  const taken = hostileScreens(COUNT).flatMap(({ name, screen }) =>
    READERS.filter(([, read]) => read(screen).focus === "composer").map(([reader]) => `${reader}, ${name}`)
  );
  assert.deepEqual(taken, []);
});
