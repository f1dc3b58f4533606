/** tmux is killed, sessions are renamed or killed, and agents exit, while messages wait for them. */
import { runtime } from "#runtime";
import type { TranscriptEntry } from "../../src/echo/program.ts";
import { FaultStage } from "../helpers/fault_stage.ts";
import { controlEcho, promptsIn, readTranscript } from "../helpers/agents_echo.ts";
import { FROM_CHECKOUT } from "../helpers/program.ts";
import { run } from "../helpers/run.ts";
import { until } from "../helpers/until.ts";

Deno.test("faults: tmux killed and started, sessions renamed and killed, under a queue [fault-tmux, fault-session, fault-count]", async (t) => {
  await using stage = await FaultStage.make();
  const { sandbox } = stage.stack;
  await t.step("session renamed", async () => {
    await stage.row({
      fault: "session renamed",
      inject: (load) =>
        stage.during(load, async (n) => {
          const name = stage.names[n % stage.names.length] ?? "";
          await sandbox.tmux("rename-session", "-t", `=${name}`, "elsewhere");
          await load.progress(1, { orAfterMs: 1_000 });
          await sandbox.tmux("rename-session", "-t", "=elsewhere", name);
        }),
    });
  });
  await t.step("session killed", async () => {
    await stage.row({
      fault: "session killed",
      inject: (load) =>
        stage.during(load, async (n) => {
          const name = stage.names[n % stage.names.length] ?? "";
          await stage.killAgents([name], () => sandbox.tmux("kill-session", "-t", `=${name}`));
          await load.progress(1, { orAfterMs: 1_000 });
          await stage.startAgents([name.replace("svc-", "")]);
        }),
    });
  });
  await t.step("tmux server killed", async () => {
    await stage.row({
      fault: "tmux server killed",
      inject: (load) =>
        stage.during(load, async () => {
          const pid = Number(await sandbox.tmux("display-message", "-p", "#{pid}"));
          await stage.killAgents(stage.names, async () => {
            Deno.kill(pid, "SIGKILL");
            await until("its end", () => !runtime.commands.kill(pid, 0));
          });
          await load.progress(1, { orAfterMs: 1_000 });
          await stage.startAgents(stage.names.map((name) => name.replace("svc-", "")));
        }),
    });
  });
});

/** Number of checks after which text that a shell or an agent has lost is typed again. */
const RETYPE_LOOKS = 50;

const BASH = ["env", "PS1=ready> ", "bash", "--norc", "--noprofile", "-i"];

const EXITS: Record<string, (stage: FaultStage, name: string) => Promise<void>> = {
  "agent leaves": async ({ stack: { sandbox } }, name) => {
    const pane = `=${name}:`;
    let looks = 0;
    // A busy agent interprets the first Ctrl-C as the end of its turn.
    await until("the shell", async () => {
      if (looks++ % RETYPE_LOOKS === 0) await sandbox.tmux("send-keys", "-t", pane, "C-c", "C-c");
      return (await sandbox.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}")).trim() ===
        "bash";
    });
  },
  "agent killed": async ({ stack }, name) => {
    const shell = await stack.sandbox.tmux("display-message", "-p", "-t", `=${name}:`, "#{pane_pid}");
    const { stdout } = await run(["ps", "-o", "pid=", "--ppid", shell.trim()]);
    for (const pid of stdout.trim().split(/\s+/).map(Number)) if (pid > 1) Deno.kill(pid, "SIGKILL");
  },
};

Deno.test("faults: an agent that exits under a queue leaves nothing to the shell below it [fault-agent-exit, fault-count]", async (t) => {
  await using stage = await FaultStage.make({ sessions: 0 });
  // Without this setting nothing is typed into such an agent.
  const config = `${stage.stack.sandbox.svcHome}/config.json`;
  const before = JSON.parse(await Deno.readTextFile(config));
  await Deno.writeTextFile(config, JSON.stringify({ ...before, allowUnknownScreens: true }));
  await stage.restartListener();
  for (const name of ["svc-a", "svc-b"]) {
    await stage.stack.sandbox.newSession(name, BASH);
    await startInShell(stage, name);
  }
  for (const [fault, exit] of Object.entries(EXITS)) {
    await t.step(fault, async () => {
      await stage.row({
        fault,
        areUnwrapped: true,
        inject: (load) =>
          stage.during(load, async (n) => {
            const name = stage.names[n % 2] ?? "";
            await stage.killAgents([name], () => exit(stage, name));
            await load.progress(1, { orAfterMs: 1_000 });
            await startInShell(stage, name);
          }),
      });
    });
  }
});

/** Starts an agent in a shell, as a user does, in a session without a wrapper. */
async function startInShell({ stack, sessions }: FaultStage, name: string): Promise<void> {
  const { sandbox } = stack;
  const pane = `=${name}:`;
  const file = `${sandbox.root}/${name}-${crypto.randomUUID()}`;
  const line = [...FROM_CHECKOUT, "echo-agent", "--transcript", `${file}.jsonl`, "--control", `${file}.sock`];
  let looks = 0;
  await until("the agent in the shell", async () => {
    if (await Deno.stat(`${file}.sock`).then(() => true, () => false)) return true;
    const command = await sandbox.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}");
    // A shell that takes back its terminal may lose a key, and one that is starting ends on C-c.
    if (command.trim() !== "bash" || looks++ % RETYPE_LOOKS > 0) return false;
    if (looks > 1) await sandbox.tmux("send-keys", "-t", pane, "C-c");
    // Unread input of the agent is now in the shell's line: an Enter would run all its lines but the last.
    await sandbox.tmux("send-keys", "-t", pane, "C-u");
    await sandbox.tmux("send-keys", "-t", pane, "-l", line.join(" "));
    await sandbox.tmux("send-keys", "-t", pane, "Enter");
    return false;
  });
  const entries = (): Promise<TranscriptEntry[]> => readTranscript(`${file}.jsonl`);
  sessions.set(name, [...sessions.get(name) ?? [], {
    name,
    entries,
    screen: () => sandbox.screen(name),
    prompts: async () => promptsIn(await entries()),
    control: (request) => controlEcho(`${file}.sock`, request),
  }]);
}
