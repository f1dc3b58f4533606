/** The environment of tmux clients: what tmux itself reads, and nothing that an agent or a model's provider needs. */
import type { Commands } from "../runtime/types.ts";

const NAMES = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL"],
  ...["TERM", "COLORTERM", "LANG", "TZ"],
  ...["TMUX_TMPDIR", "TMPDIR"],
]);
/** tmux copies these from a terminal that attaches into the session (`update-environment`), and clears absent ones. */
const TERMINAL_NAMES = new Set([
  ...["DISPLAY", "WINDOWID", "XAUTHORITY", "KRB5CCNAME"],
  ...["SSH_AGENT_PID", "SSH_AUTH_SOCK", "SSH_CONNECTION"],
]);

/** `attaches`: the client shows the session in a terminal of this account. */
export function tmuxEnvironment(
  env: Readonly<Record<string, string>>,
  { attaches = false }: { attaches?: boolean } = {},
): Record<string, string> {
  const isKept = (name: string): boolean =>
    NAMES.has(name) || name.startsWith("LC_") || (attaches && TERMINAL_NAMES.has(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}

/** The same commands, each with this environment. */
export function withEnvironment(
  commands: Pick<Commands, "run" | "pipe">,
  env: Record<string, string>,
): Pick<Commands, "run" | "pipe"> {
  return {
    run: (argv, options) => commands.run(argv, { ...options, env }),
    pipe: (argv, options) => commands.pipe(argv, { ...options, env }),
  };
}
