/** What a setup is given, and what it says of each agent. */
import type { HomePaths } from "../../home/paths.ts";
import type { AgentKind } from "../../protocol/names.ts";
import type { Commands, Files } from "../../runtime/types.ts";

export interface SetupHost {
  files: Files;
  commands: Pick<Commands, "run" | "pipe" | "which">;
  paths: HomePaths;
  env: Readonly<Record<string, string>>;
  /** The person's home directory. */
  home: string;
  /** Absolute path of `plugin/`. */
  plugin: string;
}

export type FileAction = "create" | "change" | "keep" | "restore" | "delete";

export interface FileReport {
  path: string;
  action: FileAction;
  /** Lines with their sign; none when the file stays as it is. */
  diff: string[];
}

export interface AgentReport {
  kind: AgentKind;
  label: string;
  isOk: boolean;
  files: FileReport[];
  trusts: readonly string[];
  notes: readonly string[];
}
