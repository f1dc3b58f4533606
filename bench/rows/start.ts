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
    await sandbox.tmux("set-hook", "-g", "session-created", "wait-for -S created");
    /** Measures until the session exists: svc then waits whether its agent ends at once. */
    const measure = async (begin: () => Promise<string>): Promise<number> => {
      const created = sandbox.tmux("wait-for", "created");
      let begun: Promise<string> | undefined;
      const took = await timed(async () => {
        begun = begin();
        await created;
      });
      await sandbox.tmux("kill-session", "-t", `=${await begun}`);
      return took;
    };
    return {
      ours: () => measure(async () => (await runSvc(sandbox, ["--detach", "echo"])).stdout.trim()),
      theirs: () =>
        measure(async () => {
          await bare();
          await sandbox.tmux(...start, "plain", "cat");
          return "plain";
        }),
      close: async () => await stack[Symbol.asyncDispose](),
    };
  },
};

export const startRows: Row[] = [startRow(["--help"], "< 2"), startRow(["--version"], "< 2"), sessionRow];
