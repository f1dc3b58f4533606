/** Programs that stand in for the agents on a sandbox's PATH. */
import type { Sandbox } from "./sandbox.ts";
import { CHECKOUT } from "./sources.ts";

/** Puts a shell script first on the PATH, which no longer contains the machine's real agents. */
export async function installProgram(sandbox: Sandbox, name: string, script = "exit 0"): Promise<void> {
  const directory = `${sandbox.root}/bin`;
  await Deno.mkdir(directory, { recursive: true });
  await Deno.writeTextFile(`${directory}/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  sandbox.env.PATH = `${directory}:/usr/bin:/bin`;
}

/**
 * Installs a stand-in for Codex's app server, which trusts hooks (`willing`), does so while its user edits config.toml
 * (`shared`), refuses, or answers with errors.
 */
export async function installCodex(
  sandbox: Sandbox,
  mode: "willing" | "shared" | "unwilling" | "broken" = "willing",
): Promise<void> {
  const standIn = `${CHECKOUT}tests/helpers/codex_stand_in.ts`;
  const script = `exec ${Deno.execPath()} run -A --quiet ${standIn} "$HOME/.codex" ${mode}`;
  await installProgram(sandbox, "codex", script);
}
