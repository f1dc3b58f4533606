/** The stdin of every agent's hooks: for any input the hook ends, prints only JSON or text for the model, and writes nothing. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { HookReport } from "../../src/home/control_socket.ts";
import { homePaths } from "../../src/home/paths.ts";
import { type HookHost, runHook } from "../../src/hooks/run_hook.ts";
import { AGENT_KINDS, loadHooks } from "../../src/agents/registry.ts";
import type { AgentKind } from "../../src/protocol/names.ts";
import type { Files } from "../../src/runtime/types.ts";
import { runtime } from "#runtime";
import { recordedCalls } from "../helpers/hook_calls.ts";
import { anyText, fuzzAsync } from "./cases.ts";

const EVENTS = [
  ...["Stop", "SubagentStop", "Notification", "PreToolUse", "PostToolUse", "PermissionRequest", "SessionEnd"],
  ...[
    "AfterAgent",
    "BeforeTool",
    "sessionEnd",
    "preToolUse",
    "permission.asked",
    "session.idle",
    "__proto__",
    "",
  ],
];

interface Bench {
  host: HookHost;
  written: string[];
  reports: unknown[];
}

/** Makes an empty home whose files record every write, and a daemon that answers at once. */
async function makeBench(): Promise<Bench> {
  const [written, reports]: [string[], unknown[]] = [[], []];
  const writes = [
    "writeText",
    "replaceText",
    "createText",
    "openAppend",
    "remove",
    "rename",
    "chmod",
    "makeDirectory",
  ];
  const note = (name: string) => (path: string): Promise<never> => {
    written.push(`${name} ${path}`);
    return Promise.reject(new Error("not here"));
  };
  const files: Files = {
    ...runtime.files,
    list: () => Promise.resolve([]),
    readText: () => Promise.resolve(undefined),
    realPath: (path) => Promise.resolve(path),
    ...Object.fromEntries(writes.map((name) => [name, note(name)])),
  };
  const place = { homeDirectory: "/nowhere", cwd: "/", uid: 1 };
  const connect = () =>
    Promise.resolve({
      lines: answers(),
      send: (text: string) => {
        reports.push(...text.split("\n").map((line) => JSON.parse(line)));
        return Promise.resolve();
      },
      close: () => {},
    });
  const host: HookHost = {
    files,
    paths: await homePaths(place),
    sockets: { connect },
    now: () => 1_795_000_000_000,
    session: "svc-p",
    pane: "%1",
    tmuxSocket: "/s",
    gates: true,
    cards: true,
    print: () => {},
  };
  return { host, written, reports };
}

async function* answers(): AsyncGenerator<string> {
  for (let n = 0; n < 4; n++) yield await Promise.resolve('{"ok":true}');
}

/** A recorded input with fields that are missing, of another type, or from elsewhere. */
function inputs(samples: readonly Record<string, unknown>[]): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    anyText,
    fc.constantFrom("/p", "c-1", "Bash", true, null),
  );
  const changed = fc.tuple(
    samples.length === 0 ? fc.constant({}) : fc.constantFrom(...samples),
    fc.dictionary(
      fc.oneof(fc.constantFrom(...samples.flatMap(Object.keys), "prompt", "cwd"), anyText),
      value,
      {
        maxKeys: 5,
      },
    ),
  ).map(([sample, more]) => JSON.stringify({ ...sample, ...more }));
  return fc.oneof({ arbitrary: changed, weight: 8 }, { arbitrary: anyText, weight: 1 }, {
    arbitrary: changed.map((text) => text.slice(0, text.length >> 1)),
    weight: 1,
  });
}

async function samplesOf(kind: AgentKind): Promise<Record<string, unknown>[]> {
  const calls = await recordedCalls(kind).catch(() => []);
  return calls.map(({ input }) => ({ ...input }));
}

for (const kind of AGENT_KINDS) {
  Deno.test(`any stdin of ${kind}'s hooks ends, prints nothing and writes nothing [fuzz-100k]`, async () => {
    const samples = await samplesOf(kind);
    const calls = await recordedCalls(kind).catch(() => []);
    const prompt = (await loadHooks(kind))?.promptEvent;
    const events = [...new Set([...EVENTS, ...calls.map(({ event }) => event), ...(prompt ? [prompt] : [])])];
    const { host, written, reports } = await makeBench();
    await fuzzAsync(
      `hook stdin of ${kind}`,
      fc.tuple(inputs(samples), fc.option(fc.constantFrom(...events))),
      {
        holds: async ([input, event]) => {
          const printed: string[] = [];
          const named = event === null ? {} : { event };
          const call = { kind, ...named, input: Promise.resolve(input) };
          await runHook({ ...host, print: (text) => void printed.push(text) }, call);
          assert.deepEqual([printed, written], [[], []]);
          for (const request of reports.splice(0)) {
            const { op, report } = request as { op: string; report: unknown };
            // Before a dialog the hook checks that the daemon is alive.
            if (op === "status") continue;
            assert.ok(HookReport.safeParse(report).success, JSON.stringify(report).slice(0, 300));
          }
        },
      },
    );
  });
}
