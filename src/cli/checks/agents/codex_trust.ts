/** Asks Codex whether it runs svc's hooks: it runs none that its person has not reviewed. */
import * as z from "zod/mini";
import { withCodexServer } from "../../../agents/setup/codex_server.ts";
import { runsSvcHook } from "../../../agents/setup/registered.ts";
import type { FinishHost } from "../../../agents/setup/types.ts";
import { messageOf } from "../check.ts";

const TRUSTED: readonly string[] = ["trusted", "managed"];

const Listed = z.object({
  data: z.array(z.looseObject({
    hooks: z.array(z.looseObject({ command: z.optional(z.string()), trustStatus: z.string() })),
  })),
});

/** Why it does not run them; undefined when it does. */
export async function codexDistrust(host: FinishHost): Promise<string | undefined> {
  try {
    const { data } = Listed.parse(
      await withCodexServer(host, (ask, cwd) => ask("hooks/list", { cwds: [cwd] })),
    );
    const ours = data.flatMap(({ hooks }) => hooks).filter(({ command }) => runsSvcHook(command ?? ""));
    if (ours.length === 0) return "Codex does not know of them";
    const open = ours.filter(({ trustStatus }) => !TRUSTED.includes(trustStatus));
    return open.length === 0 ? undefined : `Codex has not reviewed ${open.length} of ${ours.length} hooks`;
  } catch (error) {
    return `Codex could not be asked whether it trusts them: ${messageOf(error)}`;
  }
}
