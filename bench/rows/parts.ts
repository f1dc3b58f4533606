/** The steps of the listener's part of a message, measured one by one and compared with one spawn of tmux. */
import { openJournal } from "../../src/home/journal.ts";
import { withdrawMarker, writeMarker } from "../../src/home/markers.ts";
import { observe } from "../../src/listener/inject/pane_check.ts";
import type { Target } from "../../src/listener/targets.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { verbs } from "../../src/tmux/argv.ts";
import type { TmuxServer } from "../../src/tmux/server.ts";
import { type InjectBench, makeInjectBench } from "../../tests/helpers/inject_bench.ts";
import { makeSandbox, type Sandbox } from "../../tests/helpers/sandbox.ts";
import { type Row, timed } from "../measure.ts";
import { type Recorder, startRecorder } from "../recorder.ts";

interface Pane {
  sandbox: Sandbox;
  bench: InjectBench;
  recorder: Recorder;
  target: Target;
  server: TmuxServer;
}

async function openPane(): Promise<Pane> {
  const sandbox = await makeSandbox();
  const recorder = await startRecorder(sandbox, "svc-bench");
  const bench = makeInjectBench(sandbox);
  const resolved = await bench.targets.resolve("svc-bench");
  if (resolved.kind === "refused") throw new Error(`no session: ${resolved.reason}`);
  const { target } = resolved;
  return { sandbox, bench, recorder, target, server: bench.targets.server(target) };
}

function partRow(what: string, step: (pane: Pane) => Promise<() => Promise<unknown>>): Row {
  return {
    name: `part of the listener's: ${what}`,
    beside: "one tmux send-keys spawn",
    aim: "a figure",
    samples: 200,
    async open() {
      const pane = await openPane();
      const { sandbox, bench, recorder } = pane;
      const run = await step(pane);
      return {
        ours: () => timed(run),
        theirs: () => timed(() => sandbox.tmux("send-keys", "-t", "=svc-bench:", "Enter")),
        async close() {
          await bench[Symbol.asyncDispose]();
          await recorder.close();
          await sandbox[Symbol.asyncDispose]();
        },
      };
    },
  };
}

export const partRows: Row[] = [
  partRow("one look at the pane", ({ server, target }) => Promise.resolve(() => observe(server, target))),
  partRow("one record of the journal, synced to disk", async ({ sandbox }) => {
    const journal = await openJournal({
      files: runtime.files,
      path: `${sandbox.root}/journal.jsonl`,
      now: Date.now,
    });
    return () => journal.record(crypto.randomUUID(), { step: "typing" });
  }),
  partRow("one marker, written and withdrawn", ({ sandbox }) => {
    const markers = { files: runtime.files, markers: `${sandbox.root}/markers` };
    return Promise.resolve(async () => {
      const text = { dir: sandbox.project, text: "a message", pane: "%0", now: Date.now() };
      await withdrawMarker(markers, await writeMarker(markers, text));
    });
  }),
  partRow("a key, until the screen shows it", ({ server, target }) => {
    const screen = (): Promise<string> => server.run(verbs.captureScreen(target.pane));
    let letters = 0;
    return Promise.resolve(async () => {
      const letter = String.fromCharCode(65 + letters++ % 26);
      await server.run(verbs.sendKey(target.pane, letter));
      while (!(await screen()).includes(letter));
    });
  }),
];
