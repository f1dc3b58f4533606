/** The launcher in `~/.svc/bin`: what all registrations run, so that only one file changes when svc moves. */
import { shellWord } from "../../agents/setup/shell_word.ts";
import type { HomePaths } from "../../home/paths.ts";
import type { Files } from "../../runtime/types.ts";

const MODE = 0o700;

/** The event that each agent sends when a tool call has ended. */
const AFTER_TOOL = ["PostToolUse", "PostToolUseFailure", "AfterTool", "postToolUse"];

/**
 * A hook that cannot run says nothing and exits 0: in some agents any other code stops the prompt. The report of a tool
 * call's end is sent in the background once the input has been read, so that the agent does not wait for it.
 */
export function launcherText(command: readonly string[], root: string): string {
  const words = command.map(shellWord).join(" ");
  return [
    "#!/bin/sh",
    "# Runs svc, wherever it lies. Written by svc setup.",
    `: "\${SVC_HOME:=${root.replace(/["$`\\]/g, "\\$&")}}"`,
    "export SVC_HOME",
    'case "$1 $2" in',
    `${AFTER_TOOL.map((event) => `"hook ${event}"`).join(" | ")})`,
    "  input=$(cat)",
    `  { printf '%s\\n' "$input" | ${words} "$@"; } >/dev/null 2>&1 &`,
    "  exit 0 ;;",
    '"remote-hook "* | "hook "*)',
    `  ${words} "$@" 2>/dev/null`,
    "  exit 0 ;;",
    "esac",
    `exec ${words} "$@"`,
    "",
  ].join("\n");
}

/** False when it was so before. */
export async function writeLauncher(files: Files, paths: HomePaths, text: string): Promise<boolean> {
  if (await files.readText(paths.launcher) === text && await files.isExecutable(paths.launcher)) return false;
  await files.makeDirectory(paths.launcher.slice(0, paths.launcher.lastIndexOf("/")), { mode: MODE });
  await files.replaceText(paths.launcher, text, { mode: MODE });
  return true;
}
