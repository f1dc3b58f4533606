/** How long a command takes to start, beside the bare runtime running an empty file. */
import { runSvc } from "../../tests/helpers/program.ts";
import { makeSandbox } from "../../tests/helpers/sandbox.ts";
import { type Row, timed } from "../measure.ts";

function startRow(args: string[], aim: string): Row {
  return {
    name: `start: svc ${args.join(" ")}`,
    beside: "deno running an empty file",
    aim,
    samples: 30,
    async open() {
      const sandbox = await makeSandbox();
      const empty = `${sandbox.root}/empty.ts`;
      await Deno.writeTextFile(empty, "");
      const bare = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--quiet", "--no-check", "--no-config", empty],
        env: sandbox.env,
        clearEnv: true,
      });
      return {
        ours: () => timed(() => runSvc(sandbox, args)),
        theirs: () => timed(() => bare.output()),
        close: async () => await sandbox[Symbol.asyncDispose](),
      };
    },
  };
}

export const startRows: Row[] = [startRow(["--help"], "< 2"), startRow(["--version"], "< 2")];
