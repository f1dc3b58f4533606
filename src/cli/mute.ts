/** `svc mute`: a project's sessions take no messages, and its agents are never told of the phone. */
import { runtime } from "#runtime";
import { loadMuted } from "../home/muted.ts";
import { defineCommand, parseWords } from "./command.ts";
import { accountPaths } from "./context.ts";
import { print, printJson } from "./output.ts";
import { setMute } from "./set_mute.ts";

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "mute",
    summary: "Silence a project and all below it: nothing from the phone reaches its sessions.",
    examples: ["svc mute", "svc mute ~/work/app", "svc mute --list"],
  })
    .argument("[directory]", "the project's directory; this one's project when left out")
    .option("--list", "print the muted directories")
    .option("--json", "print the list as JSON");
  const parsed = parseWords(command, args);
  const words = parsed.opts();
  if (!words.list) return await setMute(parsed.processedArgs[0], { muted: true });
  const muted = await loadMuted(runtime.files, await accountPaths());
  if (words.json) printJson(muted);
  else for (const directory of muted) print(directory);
  return 0;
}
