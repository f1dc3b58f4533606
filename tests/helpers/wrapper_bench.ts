/** Runs wrappers on terminals (panes of another tmux), with agents that record how they were started. */
import { runSvc, SVC, type SvcOptions } from "./program.ts";
import type { Ran } from "./run.ts";
import { makeSandbox, type Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

/** How a recording agent was started. */
export interface AgentStart {
  pid: number;
  cwd: string;
  args: string[];
  env: Record<string, string>;
}

export interface Terminal {
  screen(): Promise<string>;
  /** Keys as `tmux send-keys` names them. */
  keys(...names: string[]): Promise<void>;
  /** Resolves with the wrapper's exit code when it ends. By then the screen shows everything that it printed. */
  exitCode(): Promise<number>;
}

export interface WrapperBench extends AsyncDisposable {
  sandbox: Sandbox;
  /** The directory of the recording agents. */
  bin: string;
  svc(args: readonly string[], options?: SvcOptions): Promise<Ran>;
  /** Runs `svc <args>` on a separate terminal. */
  terminal(
    args: readonly string[],
    options?: { cwd?: string; env?: Record<string, string> },
  ): Promise<Terminal>;
  /** Resolves with every start of an agent so far, unordered. */
  starts(): Promise<AgentStart[]>;
  /** Resolves with the number of attached clients, by session name. */
  sessions(): Promise<Record<string, number>>;
}

const AGENT = `#!/bin/sh
{ pwd; printf '%s\\0' "$@"; } > "$SVC_TEST_RECORD/$$.args"
env -0 > "$SVC_TEST_RECORD/$$.env"
mv "$SVC_TEST_RECORD/$$.args" "$SVC_TEST_RECORD/$$.start"
case "$1" in
  --say) printf '%s\\n' "$2"; exit "$3" ;;
  --deaf) trap '' HUP ;;
esac
echo "agent is ready"
while read -r line; do
  [ "$line" = leave ] && exit 0
  echo "got $line"
done
while [ "$1" = --deaf ]; do sleep 1; done
`;

export async function makeWrapperBench(): Promise<WrapperBench> {
  const sandbox = await makeSandbox();
  const record = `${sandbox.root}/record`;
  const bin = `${sandbox.root}/bin`;
  for (const path of [record, bin]) await Deno.mkdir(path);
  for (const agent of ["claude", "codex", "gemini"]) {
    await Deno.writeTextFile(`${bin}/${agent}`, AGENT, { mode: 0o755 });
  }
  sandbox.env.PATH = `${bin}:${sandbox.env.PATH}`;
  sandbox.env.SVC_TEST_RECORD = record;
  const terminal = new LocalTerminal(sandbox);
  return {
    sandbox,
    bin,
    svc: (args, options) => runSvc(sandbox, args, options),
    terminal: (args, options) => terminal.open(args, options),
    starts: () => readStarts(record),
    sessions: () => readSessions(sandbox),
    async [Symbol.asyncDispose](): Promise<void> {
      await terminal.close();
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

async function readSessions(sandbox: Sandbox): Promise<Record<string, number>> {
  const listed = await sandbox.tmux("list-sessions", "-F", "#{session_name} #{session_attached}").catch(() =>
    ""
  );
  const rows = listed.split("\n").filter((line) => line !== "").map((line) => line.split(" "));
  return Object.fromEntries(rows.map(([name, attached]) => [name, Number(attached)]));
}

async function readStarts(record: string): Promise<AgentStart[]> {
  const names = Array.from(Deno.readDirSync(record), ({ name }) => name).filter((name) =>
    name.endsWith(".start")
  );
  return await Promise.all(names.map(async (name) => {
    const [cwd = "", ...rest] = (await Deno.readTextFile(`${record}/${name}`)).split("\n");
    const variables = (await Deno.readTextFile(`${record}/${name.replace("start", "env")}`)).split("\0");
    const env = variables.filter((one) => one.includes("=")).map((one): [string, string] => {
      const at = one.indexOf("=");
      return [one.slice(0, at), one.slice(at + 1)];
    });
    return {
      pid: Number.parseInt(name),
      cwd,
      args: rest.join("\n").split("\0").slice(0, -1),
      env: Object.fromEntries(env),
    };
  }));
}

/** The other tmux, whose panes are the terminals. */
class LocalTerminal {
  readonly #sandbox: Sandbox;
  readonly #socket: string;
  #count = 0;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.#socket = `${sandbox.root}/terminal.sock`;
  }

  async open(
    args: readonly string[],
    { cwd = this.#sandbox.project, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
  ): Promise<Terminal> {
    const name = `terminal${++this.#count}`;
    const script = `"$@"; printf '\\033]2;exit code %s\\007' "$?"; exec cat`;
    const variables = Object.entries({ TMUX: "", ...env }).map(([key, value]) => `${key}=${value}`);
    const command = [
      "env",
      "-u",
      "TMUX_PANE",
      ...variables,
      "sh",
      "-c",
      script,
      "sh",
      ...SVC,
      ...args,
    ];
    await this.#tmux("new-session", "-d", "-s", name, "-x", "100", "-y", "30", "-c", cwd, "--", ...command);
    return {
      screen: () => this.#tmux("capture-pane", "-p", "-e", "-t", `=${name}:`),
      keys: async (...names) => void await this.#tmux("send-keys", "-t", `=${name}:`, ...names),
      exitCode: async () => Number(await until("the wrapper's end", () => this.#exitCode(name))),
    };
  }

  /** Returns the code as text. The title arrives through the terminal, after everything that the wrapper printed. */
  async #exitCode(name: string): Promise<string | undefined> {
    const title = await this.#tmux("display-message", "-p", "-t", `=${name}:`, "#{pane_title}");
    return /^exit code (\d+)$/m.exec(title)?.[1];
  }

  async close(): Promise<void> {
    if (this.#count > 0) await this.#tmux("kill-server");
  }

  async #tmux(...args: string[]): Promise<string> {
    const { env } = this.#sandbox;
    const { success, stdout, stderr } = await new Deno.Command("tmux", {
      args: ["-f", "/dev/null", "-S", this.#socket, ...args],
      env,
      clearEnv: true,
    }).output();
    if (!success) throw new Error(`tmux ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  }
}
