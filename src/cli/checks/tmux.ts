/** Checks that tmux is there and new enough. */
import { runtime } from "#runtime";
import { tmuxInstallHint } from "../../wrapper/install_hint.ts";
import { isTmuxTooOld, TMUX_OLDEST } from "../../wrapper/tmux_version.ts";
import { type Check, fault, ok } from "./check.ts";

export const tmuxCheck: Check = {
  name: "tmux",
  async run() {
    const { code, stdout } = await runtime.commands.run(["tmux", "-V"]);
    const version = new TextDecoder().decode(stdout).trim();
    const hint = `install it with: ${await tmuxInstallHint((program) => runtime.commands.which(program))}`;
    if (code !== 0) return fault("tmux is not installed", hint);
    const oldest = `${TMUX_OLDEST.major}.${TMUX_OLDEST.minor}`;
    return isTmuxTooOld(version) ? fault(`${version} is older than ${oldest}`, hint) : ok(version);
  },
};
