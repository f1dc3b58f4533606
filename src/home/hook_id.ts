/** `hookId` of the configuration: names this installation's hooks in every push that they send. */
import type { Files } from "../runtime/types.ts";
import { loadConfig, saveConfig } from "./config.ts";
import type { HomePaths } from "./paths.ts";

export function newHookId(): string {
  return `hook_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
}

/** The configured one; made and written when there is none. Throws ConfigError. */
export async function ensureHookId(files: Files, paths: HomePaths): Promise<string> {
  const { hookId } = await loadConfig(files, paths);
  if (hookId !== undefined) return hookId;
  const made = newHookId();
  await saveConfig(files, paths, { hookId: made });
  return made;
}
