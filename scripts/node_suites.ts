/** Which tests run on which runtime when the built package is tested on Node, and why some run on one only. */
import { fileURLToPath } from "node:url";

/**
 * `starts`: starts the built package on Node. `both`: runs its cases on Deno and, bundled, on Node. `deno`: runs on
 * Deno only.
 */
export type Reach = { kind: "starts"; times: number } | { kind: "both" } | {
  kind: "deno";
  why: string | undefined;
};

const WHOLE_PATH = "calls the code in the test's own process; on Node the whole path is in main_flow_test.ts";
const OWN_TOOLS = "tests a tool of the checkout, which runs on Deno alone";
const PURE = "reads schemas or files, which no runtime changes";

/** Files that do not start the package. */
const DENO_ONLY: Readonly<Record<string, string>> = {
  "tests/contract/attach_race_test.ts": WHOLE_PATH,
  "tests/contract/backup_test.ts":
    "the program that writes meanwhile is the test's own, on Deno; on Node a backup during writes is in store_test.ts",
  "tests/contract/bench_hook_test.ts": OWN_TOOLS,
  "tests/contract/bench_test.ts": OWN_TOOLS,
  "tests/contract/control_pool_test.ts": WHOLE_PATH,
  "tests/contract/demo_test.ts": OWN_TOOLS,
  "tests/contract/dialog_marks_test.ts": "asks tmux to evaluate marks: no runtime takes part",
  "tests/contract/disk_full_test.ts":
    "the store of Node passes the same cases in store_test.ts, without a full disk",
  "tests/contract/on_node_test.ts": "tests the helper that starts Node",
  "tests/contract/phone_build_test.ts": OWN_TOOLS,
  "tests/contract/prove_test.ts": OWN_TOOLS,
  "tests/contract/wire_samples_test.ts": PURE,
  "tests/e2e/discovery_test.ts": WHOLE_PATH,
  "tests/e2e/floods_test.ts":
    "the flooded relay is a program of the test, on Deno; its limits on Node are in relay_test.ts",
  "tests/e2e/guard_race_test.ts": WHOLE_PATH,
  "tests/e2e/man_page_test.ts": OWN_TOOLS,
  "tests/e2e/permissions_test.ts": "Deno has the permissions, Node does not",
  "tests/e2e/inject_tmux_test.ts": WHOLE_PATH,
};

/** Files that start the package but run partly on Deno. */
export const PARTLY: Readonly<Record<string, string>> = {
  "tests/e2e/crash_listener_test.ts":
    "the listener that is killed has a runtime that kills it, made for Deno",
  "tests/e2e/examples_test.ts": "each example also runs on Deno",
};

const BY_ITSELF = /testOnBothRuntimes\(|buildForNode\(|libraryForNode\(|runCasesOnNode\(|await node22\(\)/;

/** @param starts how often each test file started the package */
export function reachOf(
  { path, text }: { path: string; text: string },
  starts: ReadonlyMap<string, number>,
): Reach {
  const times = starts.get(path) ?? 0;
  if (times > 0) return { kind: "starts", times };
  return BY_ITSELF.test(text) ? { kind: "both" } : { kind: "deno", why: DENO_ONLY[path] };
}

/** Counts the starts of each test file: the tests append a line with their file's address for each. */
export function countStarts(lines: string, root: string): Map<string, number> {
  const starts = new Map<string, number>();
  for (const line of lines.split("\n").filter((line) => line !== "")) {
    const path = fileURLToPath(line).slice(root.length);
    starts.set(path, (starts.get(path) ?? 0) + 1);
  }
  return starts;
}

export interface SuiteRow {
  suite: string;
  passed: number;
  failed: number;
  /** The suite reached its limit, and not all of its tests ran. */
  isCutOff: boolean;
  reaches: readonly Reach[];
}

/** Returns the lines of the table that the task prints. */
export function suiteTable(rows: readonly SuiteRow[], node: string): string[] {
  const count = (reaches: readonly Reach[], kind: Reach["kind"]): number =>
    reaches.filter((reach) => reach.kind === kind).length;
  const times = (reaches: readonly Reach[]): number =>
    reaches.reduce((sum, reach) => sum + (reach.kind === "starts" ? reach.times : 0), 0);
  const head = [
    "suite",
    "passed",
    "failed",
    "files",
    `package on ${node}`,
    "both by itself",
    "Deno only",
    "starts",
  ];
  const cells = rows.map(({ suite, passed, failed, isCutOff, reaches }) =>
    [
      suite,
      isCutOff ? `${passed}, cut off` : passed,
      failed,
      reaches.length,
      count(reaches, "starts"),
      count(reaches, "both"),
      count(reaches, "deno"),
    ]
      .concat(times(reaches)).map(String)
  );
  const widths = head.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)));
  return [head, ...cells].map((row) =>
    row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ").trimEnd()
  );
}
