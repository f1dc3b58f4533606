/** `svc unmute`: undoes `svc mute`. */
import { defineCommand, parseWords } from "./command.ts";
import { setMute } from "./set_mute.ts";

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "unmute",
    summary: "Let a project's sessions take messages again.",
    examples: ["svc unmute", "svc unmute ~/work/app"],
  }).argument("[directory]", "the directory that was muted; this one's project when left out");
  return await setMute(parseWords(command, args).processedArgs[0], { muted: false });
}
