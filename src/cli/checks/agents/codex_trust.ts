/** Asks Codex whether it runs svc's hooks: it runs none that its person has not reviewed. */
import { errorText } from "../../../async/error_text.ts";
import { codexHooks, isTrusted, withCodexServer } from "../../../agents/codex/trust.ts";
import type { FinishHost } from "../../../agents/setup.ts";
import { fault, type Finding, warning } from "../check.ts";

/** What keeps it from running them; undefined when nothing does. `fix` goes with what only it can mend. */
export async function codexDistrust(host: FinishHost, fix: string): Promise<Finding | undefined> {
  try {
    const ours = await withCodexServer(host, codexHooks);
    if (ours.length === 0) return fault("they work, but Codex does not know of them", fix);
    const open = ours.filter((hook) => !isTrusted(hook));
    if (open.length === 0) return undefined;
    return fault(`they work, but do not run: Codex has not reviewed ${open.length} of ${ours.length}`, fix);
  } catch (error) {
    const finding = `they work; not checked whether Codex trusts them: ${errorText(error)}`;
    return warning(finding, 'start codex once; should it say "Hooks need review", answer with trust');
  }
}
