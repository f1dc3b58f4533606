/** A pane whose program writes exactly what the test draws. */
import type { Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

export interface DrawnPane extends Disposable {
  session: string;
  /** Resolves once the output is written; tmux may not have read it yet. */
  draw(output: string | Uint8Array): Promise<void>;
  /** Resolves once tmux has read everything that was drawn. */
  settled(): Promise<void>;
}

let panes = 0;

/** Starts a session of this size, with the terminal in raw mode. */
export async function makeDrawnPane(
  sandbox: Sandbox,
  { cols, rows }: { cols: number; rows: number },
): Promise<DrawnPane> {
  const session = `svc-drawn-${++panes}`;
  const fifo = `${sandbox.root}/${session}.fifo`;
  const made = await new Deno.Command("mkfifo", { args: [fifo] }).output();
  if (!made.success) throw new Error(`mkfifo failed: ${new TextDecoder().decode(made.stderr)}`);
  const size = ["-x", String(cols), "-y", String(rows)];
  await sandbox.tmux(
    ...["-f", "/dev/null", "new-session", "-d", "-s", session, ...size],
    `stty raw -echo; exec cat "${fifo}"`,
  );
  const file = await Deno.open(fifo, { write: true });
  const pane = `=${session}:`;
  await until(
    "cat in the pane",
    async () =>
      (await sandbox.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}")) === "cat\n",
  );
  let marks = 0;
  const draw = async (output: string | Uint8Array): Promise<void> => {
    let rest = typeof output === "string" ? new TextEncoder().encode(output) : output;
    while (rest.length > 0) rest = rest.subarray(await file.write(rest));
  };
  return {
    session,
    draw,
    async settled(): Promise<void> {
      const mark = `mark ${++marks}`;
      await draw(`\u001b]2;${mark}\u0007`);
      await until(
        "tmux to read what was drawn",
        async () =>
          (await sandbox.tmux("display-message", "-p", "-t", pane, "#{pane_title}")) === `${mark}\n`,
      );
    },
    [Symbol.dispose]: () => file.close(),
  };
}
