/** The environment of the agent: the wrapper's own, however old the tmux server and its environment are. */

/** tmux, or the new process itself, sets these for a pane. */
const PANE_OWN = new Set([
  "TERM",
  "TERM_PROGRAM",
  "TERM_PROGRAM_VERSION",
  "TMUX",
  "TMUX_PANE",
  "STY",
  "SHLVL",
  "PWD",
  "OLDPWD",
  "COLUMNS",
  "LINES",
  "_",
]);

export interface PaneEnvironment {
  set: Record<string, string>;
  /** Variables that the tmux server would hand down, and that the wrapper does not have. */
  unset: string[];
}

export interface EnvironmentSources {
  /** The wrapper's environment. */
  own: Readonly<Record<string, string>>;
  /** Names in the tmux server's global environment. */
  server: readonly string[];
  /** What svc sets for the agent: wins over the others. */
  svc: Readonly<Record<string, string>>;
}

export function paneEnvironment({ own, server, svc }: EnvironmentSources): PaneEnvironment {
  const inherited = Object.entries(own).filter(([name]) => !PANE_OWN.has(name));
  const set = { ...Object.fromEntries(inherited), ...svc };
  const unset = server.filter((name) => !Object.hasOwn(set, name) && !PANE_OWN.has(name));
  return { set, unset };
}

/** `env` and what it starts: the agent becomes the pane's own process, without a shell under it. */
export function paneArgv(unset: readonly string[], agent: readonly string[]): string[] {
  return ["env", ...unset.flatMap((name) => ["-u", name]), ...agent];
}

/** The names in what `show-environment -g` prints: `NAME=value`, or `-NAME` for one that is taken out. */
export function environmentNames(output: string): string[] {
  return output.split("\n").flatMap((line) => /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(line)?.[1] ?? []);
}
