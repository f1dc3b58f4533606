/** `service.json`: how the listener is started when `svc service install listener` made it a service of this account. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import { minLength } from "../protocol/lengths.ts";
import type { Commands, Files } from "../runtime/types.ts";
import { readStateText } from "./damage.ts";
import type { HomePaths } from "./paths.ts";

const ServiceFile = z.object({
  /** argv that starts the service. */
  start: z.array(z.string()).check(minLength(1)),
  /** argv that runs the svc that the service starts; left out by older versions. */
  command: z.optional(z.array(z.string())),
});

export function isServiceText(text: string): boolean {
  return ServiceFile.safeParse(parseJson(text)?.value).success;
}

export async function recordService(
  files: Files,
  paths: HomePaths,
  service: z.infer<typeof ServiceFile>,
): Promise<void> {
  await files.makeDirectory(paths.root, { mode: 0o700 });
  await files.replaceText(paths.service, `${JSON.stringify(service)}\n`, { mode: 0o600 });
}

export async function forgetService(files: Files, paths: HomePaths): Promise<void> {
  await files.remove(paths.service);
}

async function readService(files: Files, paths: HomePaths): Promise<z.infer<typeof ServiceFile> | undefined> {
  const text = await readStateText(files, paths.service);
  return ServiceFile.safeParse(parseJson(text ?? "")?.value).data;
}

/** The svc that the listener's service starts, as argv, where that is another one than this. */
export async function otherService(
  files: Files,
  paths: HomePaths,
  { selfCommand }: { selfCommand: readonly string[] },
): Promise<readonly string[] | undefined> {
  const command = (await readService(files, paths))?.command;
  if (command === undefined || command.join("\0") === selfCommand.join("\0")) return undefined;
  return command;
}

/** False without a service, and where it cannot be started, as in a session that systemd does not know. */
export async function startService(
  { files, commands }: { files: Files; commands: Pick<Commands, "run"> },
  paths: HomePaths,
): Promise<boolean> {
  const service = await readService(files, paths);
  return service !== undefined && (await commands.run(service.start)).code === 0;
}
