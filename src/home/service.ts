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

/** False without a service, and where it cannot be started, as in a session that systemd does not know. */
export async function startService(
  { files, commands }: { files: Files; commands: Pick<Commands, "run"> },
  paths: HomePaths,
): Promise<boolean> {
  const text = await readStateText(files, paths.service);
  const service = ServiceFile.safeParse(parseJson(text ?? "")?.value).data;
  return service !== undefined && (await commands.run(service.start)).code === 0;
}
