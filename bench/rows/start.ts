/** How long a command takes to start, compared with the bare runtime running an empty file. */
import { runSvc } from "../../tests/helpers/program.ts";
import { makeSandbox } from "../../tests/helpers/sandbox.ts";
import { makeStack } from "../../tests/helpers/stack.ts";
import { makeBare, RUNTIME } from "../bare.ts";
import { type Row, timed } from "../measure.ts";

function startRow(args: string[], aim: string): Row {
  return {
    name: `start: svc ${args.join(" ")}`,
    beside: `${RUNTIME} running an empty file`,
    aim,
    samples: 30,
    async open() {
      const sandbox = await makeSandbox();
      const bare = await makeBare(sandbox);
      return {
        ours: () => timed(() => runSvc(sandbox, args)),
        theirs: () => timed(bare),
        close: async () => await sandbox[Symbol.asyncDispose](),
      };
    },
  };
}

/**
 * Measures until the session exists and the agent is started in it; the rest, until a terminal shows it, is tmux's
 * time.
 */
const sessionRow: Row = {
  name: "start: svc --detach echo, until the session is there",
  beside: `${RUNTIME} running an empty file, then tmux new-session`,
  aim: "< 2",
  samples: 20,
  async open() {
    const stack = await makeStack();
    const { sandbox } = stack;
    const bare = await makeBare(sandbox);
    const start = ["new-session", "-d", "-s"];
    await sandbox.tmux(...start, "keeper", "cat");
    const ended = (name: string): Promise<unknown> => sandbox.tmux("kill-session", "-t", `=${name}`);
    return {
      async ours() {
        let name = "";
        const took = await timed(async () => {
          name = (await runSvc(sandbox, ["--detach", "echo"])).stdout.trim();
        });
        await ended(name);
        return took;
      },
      async theirs() {
        const took = await timed(async () => {
          await bare();
          await sandbox.tmux(...start, "plain", "cat");
        });
        await ended("plain");
        return took;
      },
      close: async () => await stack[Symbol.asyncDispose](),
    };
  },
};

export const startRows: Row[] = [startRow(["--help"], "< 2"), startRow(["--version"], "< 2"), sessionRow];
