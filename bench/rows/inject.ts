/** The listener's own part: from receiving the push to the typed text, with journal and marker on disk, compared with one tmux spawn. */
import { openJournal } from "../../src/home/journal.ts";
import { withdrawMarker, writeMarker } from "../../src/home/markers.ts";
import { PaneInputs } from "../../src/listener/inject/pane_inputs.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { makeInjectBench } from "../../tests/helpers/inject_bench.ts";
import { makeSandbox } from "../../tests/helpers/sandbox.ts";
import { type Row, timed } from "../measure.ts";
import { startRecorder } from "../recorder.ts";

export const injectRow: Row = {
  name: "listener: push in hand → text typed",
  beside: "one tmux send-keys spawn",
  aim: "< 0.5",
  samples: 100,
  async open() {
    const sandbox = await makeSandbox();
    const recorder = await startRecorder(sandbox, "svc-bench");
    // Text without Enter would stay in the composer, and the next message would be held behind it.
    const other = await startRecorder(sandbox, "svc-other");
    const { files } = runtime;
    const journal = await openJournal({ files, path: `${sandbox.root}/journal.jsonl`, now: Date.now });
    const markers = { files, markers: `${sandbox.root}/markers` };
    let typed = (): void => {};
    const inputs = new PaneInputs();
    const bench = makeInjectBench(sandbox, {
      rateLimit: { take: () => 0 },
      inputs,
      record: async (id, step) => {
        await journal.record(id, { step });
        if (step === "typed") typed();
      },
      writeMarker: async (dir, { body: text, pane }) => {
        const handle = await writeMarker(markers, { dir, text, pane, now: Date.now() });
        return { withdraw: () => withdrawMarker(markers, handle), taken: () => Promise.resolve(true) };
      },
    });
    const report = {
      event: "SessionStart",
      agent: "echo",
      cwd: sandbox.project,
      session: "svc-bench",
      gates: true,
    };
    const inject = async (): Promise<number> => {
      // With hooks that gate dialogs a message need not wait for the end of the agent's turn.
      inputs.hook(report);
      let done: Promise<unknown> = Promise.resolve();
      const took = await timed(() =>
        new Promise<void>((resolve) => {
          typed = resolve;
          done = bench.send("svc-bench", "a message of the bench");
        })
      );
      await done;
      return took;
    };
    const spawn = (): Promise<number> =>
      timed(() => sandbox.tmux("send-keys", "-l", "-t", "=svc-other:", "a message"));
    await inject();
    const close = async (): Promise<void> => {
      await bench[Symbol.asyncDispose]();
      await journal.close();
      await recorder.close();
      await other.close();
      await sandbox[Symbol.asyncDispose]();
    };
    return { ours: inject, theirs: spawn, close };
  },
};
