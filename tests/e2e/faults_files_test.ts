/** Files of `~/.svc` are cut or replaced by junk, and a stopped listener leaves tmux behind, while messages are sent. */
import assert from "node:assert/strict";
import { abandonClient } from "../helpers/abandoned_client.ts";
import { FaultStage } from "../helpers/fault_stage.ts";
import { run } from "../helpers/run.ts";
import { until } from "../helpers/until.ts";

const JUNK = "\u0000\ufffd{junk\n";
/** Files that are junk when a listener starts. Its journal is only cut, because nothing else records what was typed. */
const FILES = [
  ...["listener.pid", "listener.version", "listener.lock", "listener.sock", "listener.log", "start.lock"],
  ...["audit.jsonl", "projects.json"],
];

/** Cuts the last line in half, as a crash during the write does. */
async function cutLastLine(path: string): Promise<void> {
  const text = await Deno.readTextFile(path);
  const start = text.trimEnd().lastIndexOf("\n") + 1;
  // A disk keeps what was synced, and text is typed only after this step was synced.
  if (/"step":"(typing|typed)"/.test(text.slice(start))) return;
  await Deno.truncate(path, new TextEncoder().encode(text.slice(0, (start + text.length) >> 1)).length);
}

Deno.test("faults: cut and junk files under a queue [fault-files, fault-count]", async (t) => {
  await using stage = await FaultStage.make();
  const { stack } = stage;
  const path = (name: string): string => `${stack.sandbox.svcHome}/${name}`;
  await t.step("journal cut, other files junk", async () => {
    await stage.row({
      fault: "journal cut, other files junk",
      inject: (load) =>
        stage.during(load, async () => {
          await stage.killListener();
          await cutLastLine(path("journal.jsonl"));
          await stage.noteBegun();
          for (const name of FILES) {
            await Deno.remove(path(name)).catch(() => {});
            await Deno.writeTextFile(path(name), JUNK, { mode: 0o600 });
          }
          await stack.startListener();
        }),
    });
  });
  await t.step("markers junk", async () => {
    await stage.row({
      fault: "markers junk",
      inject: (load) =>
        stage.during(load, async () => {
          for (const { name } of Deno.readDirSync(path("markers"))) {
            await Deno.writeTextFile(path(`markers/${name}`), JUNK).catch(() => {});
          }
        }),
    });
  });
  await t.step("configuration junk", async () => {
    const config = await Deno.readTextFile(path("config.json"));
    await stage.row({
      fault: "configuration junk",
      inject: (load) =>
        stage.during(load, async () => {
          await Deno.writeTextFile(path("config.json"), config.slice(0, config.length / 2));
          await stage.killListener();
          const refused = await stack.svc("listener");
          assert.equal(refused.code, 1);
          assert.match(refused.stderr, /config\.json/);
          await Deno.writeTextFile(path("config.json"), config);
          await stack.startListener();
        }),
    });
  });
});

Deno.test("faults: the next listener ends what a stopped and then killed one leaves in tmux [fault-leftovers, fault-count]", async () => {
  await using stage = await FaultStage.make();
  const { sandbox } = stage.stack;
  const running = async (): Promise<string[]> => {
    const { stdout } = await run(["ps", "-A", "-o", "pid=,args="]);
    return stdout.split("\n").filter((line) => line.includes("tmux") && line.includes(sandbox.tmuxSocket));
  };
  await stage.row({
    fault: "tmux ended beside a stopped listener",
    inject: (load) =>
      stage.during(load, async () => {
        await sandbox.newSession("floods", ["yes"]);
        const endOwner = await abandonClient(sandbox, "floods");
        stage.stack.listener.kill("SIGSTOP");
        const before = await running();
        await stage.killAgents(stage.names, () => sandbox.tmux("kill-server"));
        await endOwner();
        await stage.killListener();
        await stage.stack.startListener();
        await until("the end of every client and of the server", async () => {
          const now = await running();
          return before.every((line) => !now.includes(line));
        });
        await stage.startAgents(stage.names.map((name) => name.replace("svc-", "")));
      }, { times: 2 }),
  });
});
