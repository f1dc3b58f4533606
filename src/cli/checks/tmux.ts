/** Checks that tmux is installed and new enough. */
import { runtime } from "#runtime";
import { installedTmux, tmuxInstallHint, tmuxProblem } from "../../wrapper/preflight.ts";
import { type Check, fault, ok } from "./check.ts";

export const tmuxCheck: Check = {
  name: "tmux",
  async run() {
    const version = await installedTmux(runtime.commands);
    const problem = tmuxProblem(version);
    return problem === undefined
      ? ok(version ?? "")
      : fault(problem, await tmuxInstallHint(runtime.commands));
  },
};
