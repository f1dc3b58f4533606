/** Marks svc's own hooks as reviewed in Codex, by asking its app server: only Codex knows how it hashes a hook. */
import { errorText } from "../../async/error_text.ts";
import { codexHooks, isTrusted } from "./codex_hooks.ts";
import { type Ask, withCodexServer } from "./codex_server.ts";
import type { Finished, FinishHost } from "./types.ts";

/** What a person does when Codex cannot be asked. */
const BY_HAND = 'start codex once and answer its question "Hooks need review" with trust';

/** Trusts what `codex hooks` knows of svc in the person's own hooks; says which tables that put into config.toml. */
export async function trustCodexHooks(host: FinishHost, directory: string): Promise<Finished> {
  if (host.program === undefined) return byHand("codex is not installed");
  try {
    const keys = await withCodexServer(host, trustAll);
    if (keys === undefined) return byHand("it still does not trust them");
    const tables = { path: `${directory}/config.toml`, keys: keys.map((key) => ["hooks", "state", key]) };
    return { isOk: true, notes: [], tables };
  } catch (error) {
    return byHand(errorText(error));
  }
}

function byHand(why: string): Finished {
  return { isOk: false, notes: [`Codex does not run the hooks yet, because ${why}: ${BY_HAND}.`] };
}

/** The keys of svc's hooks, all trusted then; undefined when one is not. */
async function trustAll(ask: Ask, cwd: string): Promise<string[] | undefined> {
  const before = await codexHooks(ask, cwd);
  const open = before.filter((hook) => !isTrusted(hook));
  if (open.length > 0) {
    const value = Object.fromEntries(
      open.map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]),
    );
    const edit = { keyPath: "hooks.state", mergeStrategy: "upsert", value };
    await ask("config/batchWrite", { edits: [edit], reloadUserConfig: true });
  }
  const after = await codexHooks(ask, cwd);
  return after.length > 0 && after.every(isTrusted) ? after.map(({ key }) => key) : undefined;
}
