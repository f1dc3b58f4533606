/** Keeps the sources easy to follow: how many files an event passes, no import circles, no duplicate code. */
import assert from "node:assert/strict";
import { say } from "../scripts/say.ts";
import { readSources } from "./helpers/sources.ts";
import { type Duplicate, duplicates } from "./layers/duplicates.ts";
import { readFacts } from "./layers/facts.ts";
import { resolveImport } from "./layers/rules.ts";
import {
  filesOfWalk,
  forwarders,
  type Graph,
  importCircles,
  importGraph,
  type Walk,
} from "./layers/walks.ts";

const sources = await readSources("src");
const facts = sources.map(({ path, text }) => readFacts(path, text));
const graph = importGraph(facts);

/** The files of `src` (without folder and extension) that each event passes, one list for each stretch. */
const WALKS: Readonly<Record<string, { most: number; stretches: readonly string[] }>> = {
  "message → pane": {
    most: 20,
    stretches: [
      "relay/routes relay/push_routes relay/pushes relay/hub relay/connection",
      "relay/pushes store/store store/sqlite_pushes",
      "client/relay_link listener/listener listener/pushes home/journal",
      "listener/pushes listener/push_steps listener/inject/inject listener/inject/pane_check listener/inject/guard",
      "listener/inject/guard tmux/argv",
      "listener/inject/inject listener/inject/context home/markers",
      "listener/inject/inject listener/inject/composer",
      "listener/listener listener/targets",
    ],
  },
  "question → late answer": {
    most: 17,
    stretches: [
      "mcp/serve mcp/tools",
      "mcp/serve mcp/ask_client client/api",
      "mcp/ask_client mcp/follow_question",
      "relay/routes relay/push_routes relay/asks relay/pushes relay/hub",
      "relay/asks store/store store/sqlite_pushes",
      "phone/live_relay phone/state",
      "phone/views/ask_form phone/views/ask_card",
      "phone/controller client/api",
    ],
  },
  "hook event → picker": {
    most: 20,
    stretches: [
      "hooks/run_hook agents/hooks agents/registry",
      "agents/claude/hooks agents/hooks",
      "hooks/run_hook home/notify_daemon home/control_socket",
      "home/control_socket listener/daemon listener/listener listener/inventory/reporter",
      "listener/inventory/reporter listener/inventory/inventory listener/inventory/session_entry",
      "listener/listener client/relay_link",
      "relay/websocket relay/sessions relay/hub",
      "relay/sessions store/store store/sqlite_devices",
      "phone/live_relay phone/state phone/views/picker",
    ],
  },
  "pane → phone": {
    most: 19,
    stretches: [
      "tmux/control_client listener/mirror/session_mirror tmux/mirror_snapshot",
      "listener/mirror/session_mirror tmux/mirror_filter",
      "listener/mirror/session_mirror listener/mirror/viewer listener/mirror/mirrors",
      "listener/mirror/mirrors listener/listener client/relay_link",
      "listener/mirror/viewer crypto/stream",
      "relay/websocket relay/streams relay/connection",
      "phone/live_relay phone/terminal_streams phone/terminal_stream",
      "phone/terminal_screen phone/views/terminal",
    ],
  },
  "keystroke → pane": {
    most: 18,
    stretches: [
      "phone/terminal_input phone/views/live_field",
      "phone/terminal_streams phone/terminal_stream crypto/stream",
      "relay/websocket relay/streams relay/connection",
      "client/relay_link listener/listener listener/mirror/mirrors listener/keystrokes/keystroke_stream",
      "listener/keystrokes/keystroke_stream listener/keystrokes/keystroke_rules",
      "listener/keystrokes/keystroke_stream listener/keystrokes/type_keystroke listener/inject/pane_check",
      "listener/inject/pane_check listener/inject/guard",
      "listener/keystrokes/type_keystroke tmux/argv",
    ],
  },
};

function walkOf(stretches: readonly string[]): Walk {
  const pathOf = (station: string): string =>
    facts.find(({ path }) => path.replace(/\.tsx?$/, "") === `src/${station}`)?.path ?? station;
  return stretches.map((stretch) => stretch.split(" ").map(pathOf));
}

for (const [name, { most, stretches }] of Object.entries(WALKS)) {
  Deno.test(`${name}: an event passes few files`, () => {
    const files = filesOfWalk(graph, walkOf(stretches));
    say(`walk ${name}: ${files.length} files`);
    assert.ok(files.length <= most, `${files.length} files:\n${files.join("\n")}`);
  });
}

Deno.test("the sources have no import circle, by type or by value, and no file that only forwards", () => {
  say(`${sources.length} files in src`);
  assert.deepEqual(importCircles(facts), []);
  assert.deepEqual(forwarders(facts), []);
});

/**
 * Runs of lines that look alike but are not the same thing: how many, by the files that contain them, and why they
 * stay.
 */
const COINCIDENCES: Readonly<Record<string, { runs: number; reason: string }>> = {
  "cli/agents.ts cli/server.ts": {
    runs: 1,
    reason: "two subcommands that take one argument and one option: their texts, as data",
  },
  "crypto/stream.ts crypto/stream.ts": {
    runs: 1,
    reason: "two openers drop repeats, each by its own count",
  },
  "store/migrations.ts store/migrations.ts": { runs: 1, reason: "the columns of two tables, as data" },
};

/** Returns the number of runs by file pair, as found and as listed: the two must agree. */
function compareRuns(
  found: readonly Duplicate[],
  known: typeof COINCIDENCES,
): { found: Record<string, number>; known: Record<string, number> } {
  const fileOf = (place: string): string => place.replace(/:\d+$/, "").replace(/^src\//, "");
  const byFiles = Map.groupBy(found, ({ first, second }) => `${fileOf(first)} ${fileOf(second)}`);
  const entries = Object.entries(known);
  return {
    found: Object.fromEntries(Array.from(byFiles, ([files, runs]) => [files, runs.length] as const)),
    known: Object.fromEntries(entries.map(([files, { runs }]) => [files, runs] as const)),
  };
}

Deno.test("no code is written twice in the sources, and the list of exceptions has no stale entry", () => {
  const runs = duplicates(sources);
  say(`${runs.length} runs of six or more similar lines`);
  const { found, known } = compareRuns(runs, COINCIDENCES);
  assert.deepEqual(found, known, JSON.stringify(runs, null, 2));
});

Deno.test("a path is taken from a URL with its characters decoded: the name of a checkout's folder may contain a space", async () => {
  const folders = ["src", "scripts", "tests", "bench"];
  const files = (await Promise.all(folders.map((folder) => readSources(folder)))).flat();
  const undecoded = /^(?!.*decodeURIComponent).*import\.meta\.url\)\.pathname/m;
  const found = files.filter(({ text }) => undecoded.test(text)).map(({ path }) => path);
  assert.deepEqual(found, [], "use fileURLToPath of node:url");
});

Deno.test("a run without an entry, a second run of a pair, and an entry without a run are found", () => {
  const run = { first: "src/a.ts:1", second: "src/b.ts:5", lines: 6 };
  const entry = (runs: number): typeof COINCIDENCES => ({ "a.ts b.ts": { runs, reason: "made up" } });
  const agrees = (runs: Duplicate[], known: typeof COINCIDENCES): boolean => {
    const compared = compareRuns(runs, known);
    return JSON.stringify(compared.found) === JSON.stringify(compared.known);
  };
  assert.ok(agrees([run], entry(1)));
  assert.ok(!agrees([run], {}));
  assert.ok(!agrees([run, run], entry(1)));
  assert.ok(!agrees([], entry(1)));
});

Deno.test("a circle, a forwarder, a missing link and a doubled run are found", () => {
  const made = (files: Record<string, string>): ReturnType<typeof readFacts>[] =>
    Object.entries(files).map(([path, text]) => readFacts(path, text));
  const circle = made({
    "src/a/one.ts": 'import type { Two } from "./two.ts";\nexport type One = Two;',
    "src/a/two.ts": 'import { one } from "./one.ts";\nexport type Two = typeof one;',
    "src/a/three.ts": '/** Forwards. */\nexport { one } from "./one.ts";',
  });
  assert.deepEqual(importCircles(circle), [["src/a/one.ts", "src/a/two.ts"]]);
  assert.deepEqual(forwarders(circle), ["src/a/three.ts"]);
  const links: Graph = importGraph(circle);
  assert.deepEqual(filesOfWalk(links, [["src/a/two.ts", "src/a/three.ts"]]).sort(), [
    "src/a/one.ts",
    "src/a/three.ts",
    "src/a/two.ts",
  ]);
  assert.throws(() => filesOfWalk(links, [["src/a/two.ts", "src/a/four.ts"]]), /no chain/);
  const body = (name: string): string =>
    `function ${name}() {\n  const ${name}1 = read(5);\n  if (${name}1 === undefined) return "";\n` +
    `  for (const part of ${name}1.split(" ")) {\n    found.push(part.trim());\n  }\n  await save(found);\n  return found.join();\n}\n`;
  const doubled = duplicates([{ path: "a.ts", text: body("first") }, { path: "b.ts", text: body("second") }]);
  assert.deepEqual(doubled.map(({ first, second }) => [first, second]), [["a.ts:1", "b.ts:1"]]);
  assert.equal(resolveImport("src/a/one.ts", "#runtime"), "src/runtime/types.ts");
});
