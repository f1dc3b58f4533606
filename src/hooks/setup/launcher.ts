/** The launcher in `~/.svc/bin`: every registration runs it, so that only one file changes when svc moves. */
import { CARDS_ARGUMENT } from "../../agents/hooks.ts";
import type { HomePaths } from "../../home/paths.ts";
import { shellQuote } from "../../runtime/system.ts";
import type { Files } from "../../runtime/types.ts";

const MODE = 0o700;

export interface LauncherOptions {
  /** `~/.svc`, unless the environment names another. */
  root: string;
  /** Events whose hook runs in the background once its input has been read, so that the agent does not wait. */
  backgroundEvents: readonly string[];
}

/** A hook that cannot run prints nothing and exits 0: in some agents any other code stops the prompt. */
export function launcherText(
  command: readonly string[],
  { root, backgroundEvents }: LauncherOptions,
): string {
  const background = [...new Set(backgroundEvents)].map((event) => `"hook ${event}"`);
  const run = command.map(shellQuote).join(" ");
  const files = command.filter((word) => word.startsWith("/"));
  const isThere = ["true", ...files.map((file) => `[ -e ${shellQuote(file)} ]`)].join(" && ");
  return [
    "#!/bin/sh",
    "# Runs svc, wherever it lies. Written by svc setup.",
    `: "\${SVC_HOME:=${root.replace(/["$`\\]/g, "\\$&")}}"`,
    "export SVC_HOME",
    'case "$1 $2" in',
    ...(background.length === 0 ? [] : [
      `${background.join(" | ")})`,
      "  input=$(cat)",
      `  { printf '%s\\n' "$input" | ${run} "$@"; } >/dev/null 2>&1 &`,
      "  exit 0 ;;",
    ]),
    '"remote-hook "* | "hook "*)',
    // A hook that waits for a phone ends with the signal that the agent sends it. Copilot sends none, and takes a hook that
    // a signal has ended for a refusal.
    `  [ "$4" = ${CARDS_ARGUMENT} ] && [ "$3" != copilot ] && ${isThere} && exec ${run} "$@" 2>/dev/null`,
    `  ${run} "$@" 2>/dev/null`,
    "  exit 0 ;;",
    "esac",
    `exec ${run} "$@"`,
    "",
  ].join("\n");
}

/** The command that a launcher runs; undefined for a text that svc did not write. */
export function commandOf(launcher: string): string[] | undefined {
  const [, words] = /^exec ('.*') "\$@"$/m.exec(launcher) ?? [];
  const quoted = words?.matchAll(/'((?:[^']|'\\'')*)'(?: |$)/g);
  return quoted && Array.from(quoted, ([, word = ""]) => word.replaceAll("'\\''", "'"));
}

/** False if the launcher was already up to date. */
export async function writeLauncher(files: Files, paths: HomePaths, text: string): Promise<boolean> {
  if (await files.readText(paths.launcher) === text && await files.isExecutable(paths.launcher)) return false;
  await files.makeDirectory(paths.launcher.slice(0, paths.launcher.lastIndexOf("/")), { mode: MODE });
  await files.replaceText(paths.launcher, text, { mode: MODE });
  return true;
}
