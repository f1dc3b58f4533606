/** What `svc setup` registers in an agent. */
import type { Commands } from "../../runtime/types.ts";

/** What a setup depends on. */
export interface SetupPlace {
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the launcher that hooks and MCP registrations run. */
  launcher: string;
  /** Absolute path of `plugin/`. */
  plugin: string;
}

/** An edit of a file that is the person's: everything but svc's own entries stays. */
export type FileEdit = JsonEdit | TomlEdit | OwnFile;

export interface JsonEdit {
  form: "json";
  /** The first that exists is edited; the first when none does. */
  paths: readonly string[];
  /** What a new file begins with: `{}` when left out. Null: no file, no edit. */
  initial?: Readonly<Record<string, unknown>> | null;
  set?: readonly { at: readonly string[]; value: unknown }[];
  /** Entries of lists, put last, so that the places of the others stay. */
  append?: readonly { at: readonly string[]; values: readonly unknown[] }[];
}

export interface TomlEdit {
  form: "toml";
  paths: readonly string[];
  /** Keys of a table that is svc's alone. */
  table: readonly string[];
  entries: Readonly<Record<string, string | number | readonly string[]>>;
}

/** A file that is svc's alone: a copy of one in `plugin/`, with `{{launcher}}` filled in. */
export interface OwnFile {
  form: "own";
  paths: readonly string[];
  source: string;
}

/** What only the agent itself can do or tell, once the files are written. */
export interface Finished {
  isOk: boolean;
  /** One line each for the person. */
  notes: readonly string[];
  /** Tables that the agent itself put into a TOML file on our behalf. */
  tables?: { path: string; keys: readonly (readonly string[])[] };
}

export interface FinishHost {
  commands: Pick<Commands, "run" | "pipe">;
  /** The agent's program; undefined when PATH has none. */
  program: string | undefined;
  /** A directory in which the agent may look around. */
  cwd: string;
  env: Readonly<Record<string, string>>;
}

export interface AgentSetup {
  /** A directory that shows that the agent is there also without its program: its editor made it. */
  trace?: string;
  files: readonly FileEdit[];
  /** What runs or is allowed from now on without a question to the person, one line each. */
  trusts: readonly string[];
  /** One line each: what the person should know or do. */
  notes: readonly string[];
  finish?(host: FinishHost): Promise<Finished>;
}
