/** A temporary HOME, SVC_HOME and tmux server for one test, removed at its end. */
import { STEP_VARIABLE } from "../../scripts/step_processes.ts";
import { runCalmly } from "./calm_tmux.ts";
import { run } from "./run.ts";
import { until } from "./until.ts";

interface Size {
  cols: number;
  rows: number;
}

export interface Sandbox extends AsyncDisposable {
  root: string;
  home: string;
  svcHome: string;
  /** A directory named `proj` without a git repository. */
  project: string;
  tmuxSocket: string;
  /** The children's environment: HOME, SVC_HOME, SVC_TMUX_SOCKET, TMUX_TMPDIR and PATH, but no TMUX. */
  env: Record<string, string>;
  /** Runs tmux on the private server; throws with its stderr when it fails. */
  tmux(...args: string[]): Promise<string>;
  /** Starts the program as the only pane's own process, without a user's tmux.conf. */
  newSession(name: string, argv: readonly string[], size?: Size): Promise<void>;
  /**
   * Resolves once the session's pane has executed its program: before that its process is a copy of tmux, even if tmux
   * already reports the program's name.
   */
  executed(session: string): Promise<void>;
  /** Resolves with the text on the screen of the session's pane. */
  screen(session: string): Promise<string>;
  /** Kills this process (SIGKILL) at the end of the test if it still runs. */
  killAtEnd(pid: number): void;
  /** Awaits this at the end of the test, after everything was killed. */
  awaitAtEnd(ended: Promise<unknown>): void;
}

export async function makeSandbox(): Promise<Sandbox> {
  const root = await Deno.makeTempDir({ prefix: "svc-test-" });
  const path = (name: string): string => `${root}/${name}`;
  const tmuxSocket = path("tmux.sock");
  for (const name of ["home", "proj"]) await Deno.mkdir(path(name));
  const env = {
    HOME: path("home"),
    SVC_HOME: path("home/.svc"),
    SVC_TMUX_SOCKET: tmuxSocket,
    TMUX_TMPDIR: root,
    PATH: Deno.env.get("PATH") ?? "",
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    NO_COLOR: "1",
    ...stepMark(),
  };
  const pids = new Set<number>();
  const endings: Promise<unknown>[] = [];
  const tmux = async (...args: string[]): Promise<string> => {
    const stage = {
      socket: tmuxSocket,
      pids: [...pids, ...await daemonPid(env.SVC_HOME)],
      attached: () => tmux("list-clients", "-F", "#{client_pid}"),
    };
    const { code, stdout, stderr } = await runCalmly(args, stage, () => {
      return run(["tmux", "-S", tmuxSocket, ...args], { env });
    });
    if (code !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const executed: Sandbox["executed"] = async (session) => {
    await until("the pane's program", async () => {
      const pid = await tmux("display-message", "-p", "-t", `=${session}:`, "#{pane_pid}").catch(() => "");
      const program = await Deno.readLink(`/proc/${pid.trim()}/exe`).catch(() => "");
      const argv = await Deno.readTextFile(`/proc/${pid.trim()}/cmdline`).catch(() => "");
      // tmux starts a program without arguments by a shell, which is then replaced by it.
      return program !== "" && !/\/tmux[^/]*$/.test(program) && !/^[^\0]+\0-c\0[\w-]+\0$/.test(argv);
    });
  };
  return {
    root,
    home: env.HOME,
    svcHome: env.SVC_HOME,
    project: path("proj"),
    tmuxSocket,
    env,
    tmux,
    async newSession(name, argv, { cols, rows } = { cols: 80, rows: 24 }): Promise<void> {
      const size = ["-x", String(cols), "-y", String(rows)];
      await tmux("-f", "/dev/null", "new-session", "-d", "-s", name, ...size, "--", ...argv);
      await executed(name);
    },
    executed,
    screen: (session) => tmux("capture-pane", "-p", "-t", `=${session}:`),
    killAtEnd: (pid) => void pids.add(pid),
    awaitAtEnd: (ended) => void endings.push(ended),
    async [Symbol.asyncDispose](): Promise<void> {
      for (const pid of [...pids, ...await daemonPid(env.SVC_HOME)]) kill(pid);
      await endTmux({ socket: tmuxSocket, env });
      await Promise.all(endings);
      await removeFolder(root);
    },
  };
}

/** Passes on the mark by which the runner finds what a step that was cut off leaves running. */
function stepMark(): Record<string, string> {
  const mark = Deno.env.get(STEP_VARIABLE);
  return mark === undefined ? {} : { [STEP_VARIABLE]: mark };
}

/** Returns the pid of a daemon that a wrapper started in the background, if any. */
async function daemonPid(svcHome: string): Promise<number[]> {
  const text = await Deno.readTextFile(`${svcHome}/listener.pid`).catch(() => "");
  const pid = Number(text);
  return pid > 1 ? [pid] : [];
}

/** Removes a folder, repeatedly: a shell that was just hung up may still write its history. */
async function removeFolder(path: string): Promise<void> {
  await until("an empty folder", async () => {
    try {
      await Deno.remove(path, { recursive: true });
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOTEMPTY") return false;
      throw error;
    }
  });
}

/**
 * Kills the server by force: `kill-server` alone hangs if a control client died together with its reader (tmux 3.3a).
 */
async function endTmux({ socket, env }: { socket: string; env: Record<string, string> }): Promise<void> {
  // Without tmux on the PATH no server was started.
  const tmux = async (...args: string[]): Promise<string> =>
    (await run(["tmux", "-S", socket, ...args], { env }).catch(() => undefined))?.stdout ?? "";
  const clients = await tmux("list-clients", "-F", "#{client_pid}");
  const server = await tmux("display-message", "-p", "#{pid}");
  for (const pid of clients.split("\n").map(Number)) kill(pid);
  await tmux("kill-server");
  kill(Number(server));
}

function kill(pid: number): void {
  if (pid <= 1) return;
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) && !(error instanceof TypeError)) throw error;
  }
}
