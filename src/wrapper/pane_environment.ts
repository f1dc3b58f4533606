/** The environment of the agent: the wrapper's own, however old the tmux server and its environment are. */

/** tmux, the wrapper or the new process itself sets these for a pane. */
const PANE_OWN = new Set([
  "SVC_SESSION",
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
  /** Of the session: other windows in it get it too. */
  session: Record<string, string>;
  /** Variables that the tmux server would hand down, and that the wrapper does not have. */
  unset: string[];
  /** Of the agent alone: what else runs in the session is not the one that the phone reaches. */
  agent: Readonly<Record<string, string>>;
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
  const session = Object.fromEntries(Object.entries(own).filter(([name]) => !PANE_OWN.has(name)));
  const unset = server.filter((name) => !Object.hasOwn(session, name) && !PANE_OWN.has(name));
  return { session, unset, agent: svc };
}

/** `env` and what it starts: the agent becomes the pane's own process, without a shell under it. */
export function paneArgv({ unset, agent }: PaneEnvironment, argv: readonly string[]): string[] {
  const set = Object.entries(agent).map(([name, value]) => `${name}=${value}`);
  return ["env", ...unset.flatMap((name) => ["-u", name]), ...set, ...argv];
}

/** The names in what `show-environment -g` prints: `NAME=value`, or `-NAME` for one that is taken out. */
export function environmentNames(output: string): string[] {
  return output.split("\n").flatMap((line) => /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(line)?.[1] ?? []);
}
