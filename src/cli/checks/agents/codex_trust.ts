/** Asks Codex whether it runs svc's hooks: it runs none that its person has not reviewed. */
import * as z from "zod/mini";
import { withCodexServer } from "../../../agents/setup/codex_server.ts";
import { runsSvcHook } from "../../../agents/setup/registered.ts";
import type { FinishHost } from "../../../agents/setup/types.ts";
import { fault, type Finding, messageOf, warning } from "../check.ts";

const TRUSTED: readonly string[] = ["trusted", "managed"];

const Listed = z.object({
  data: z.array(z.looseObject({
    hooks: z.array(z.looseObject({ command: z.optional(z.string()), trustStatus: z.string() })),
  })),
});

/** What keeps it from running them; undefined when nothing does. `fix` goes with what only it can mend. */
export async function codexDistrust(host: FinishHost, fix: string): Promise<Finding | undefined> {
  try {
    const answer = await withCodexServer(host, (ask, cwd) => ask("hooks/list", { cwds: [cwd] }));
    const { data } = Listed.parse(answer);
    const ours = data.flatMap(({ hooks }) => hooks).filter(({ command }) => runsSvcHook(command ?? ""));
    if (ours.length === 0) return fault("they work, but Codex does not know of them", fix);
    const open = ours.filter(({ trustStatus }) => !TRUSTED.includes(trustStatus));
    if (open.length === 0) return undefined;
    return fault(`they work, but do not run: Codex has not reviewed ${open.length} of ${ours.length}`, fix);
  } catch (error) {
    const finding = `they work; not checked whether Codex trusts them: ${messageOf(error)}`;
    return warning(finding, 'start codex once; should it say "Hooks need review", answer with trust');
  }
}
