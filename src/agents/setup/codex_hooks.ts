/** svc's own hooks as Codex knows them (`hooks/list` of its app server), and whether it runs them. */
import * as z from "zod/mini";
import type { Ask } from "./codex_server.ts";
import { runsSvcHook } from "./registered.ts";

const CodexHook = z.looseObject({
  key: z.string(),
  currentHash: z.string(),
  trustStatus: z.string(),
  command: z.optional(z.string()),
});
export type CodexHook = z.infer<typeof CodexHook>;

const HooksList = z.object({ data: z.array(z.looseObject({ hooks: z.array(CodexHook) })) });

/** Throws what Codex answered. */
export async function codexHooks(ask: Ask, cwd: string): Promise<CodexHook[]> {
  const { data } = HooksList.parse(await ask("hooks/list", { cwds: [cwd] }));
  return data.flatMap(({ hooks }) => hooks).filter(({ command }) => runsSvcHook(command ?? ""));
}

export function isTrusted({ trustStatus }: CodexHook): boolean {
  return trustStatus === "trusted" || trustStatus === "managed";
}
