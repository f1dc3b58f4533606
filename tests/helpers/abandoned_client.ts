/** A tmux control client whose owner stops reading it and is then killed: tmux 3.3a keeps such a client. */
import { controlArgv } from "../../src/tmux/argv.ts";
import type { Sandbox } from "./sandbox.ts";

/** Reads the client's first output, and then only keeps its input open. */
const OWNER = `
cd "$1" && shift && rm -f client-in client-out && mkfifo client-in client-out
"$@" < client-in > client-out &
exec 3> client-in
head -c 500 < client-out > /dev/null
echo abandoned
exec sleep 600`;

/**
 * Resolves once nothing reads the client any longer, with a function that kills its owner. The session's program must
 * print.
 */
export async function abandonClient(
  { root, tmuxSocket, env }: Sandbox,
  session: string,
): Promise<() => Promise<void>> {
  const client = controlArgv(tmuxSocket, session, { output: true });
  const owner = new Deno.Command("sh", {
    args: ["-c", OWNER, "owner", root, ...client],
    env,
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const lines = owner.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await lines.read();
  return async () => {
    owner.kill("SIGKILL");
    await owner.status;
    await lines.cancel();
  };
}
