/** A local user's terminal: a tmux client that is attached to a session. */
import type { Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

export interface AttachedClient extends Disposable {
  /** Types the bytes. */
  press(keys: string): Promise<void>;
  /** Resolves with the time of tmux's last key from this terminal, in epoch milliseconds. */
  keyAt(): Promise<number>;
}

/**
 * Attaches a client. `script` gives tmux a terminal; keys come from stdin. The client detaches when it is disposed of.
 */
export async function attachClient(
  sandbox: Sandbox,
  { session, cols, rows }: { session: string; cols?: number; rows?: number },
): Promise<AttachedClient> {
  const resize = cols === undefined ? "" : `stty cols ${cols} rows ${rows}; `;
  const attach = `${resize}exec tmux -S ${sandbox.tmuxSocket} attach -t =${session}`;
  const child = new Deno.Command("script", {
    args: ["-qfc", attach, "/dev/null"],
    env: sandbox.env,
    clearEnv: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  sandbox.killAtEnd(child.pid);
  const writer = child.stdin.getWriter();
  sandbox.awaitAtEnd(child.status.then(() => writer.abort().catch(() => {})));
  const found = async (): Promise<RegExpExecArray | null> =>
    /^0:(\d+)$/m.exec(await sandbox.tmux("list-clients", "-F", "#{client_control_mode}:#{client_activity}"));
  await until("the user's client", found);
  return {
    keyAt: async () => Number((await found())?.[1]) * 1_000,
    press: (keys) => writer.write(new TextEncoder().encode(keys)),
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}
