/** The demo's session: the echo agent, in a folder of its own. */
import { runtime } from "#runtime";
import { spawnArgv, verbs } from "../../tmux/argv.ts";
import { tmuxEnvironment } from "../../tmux/server.ts";
import { print } from "../output.ts";

/** Starts it detached and tells how to look at it; undone with the rest. */
export async function startDemo(undo: (() => Promise<unknown>)[]): Promise<void> {
  const parent = await runtime.files.makeTempDirectory("svc-demo-");
  undo.push(() => runtime.files.remove(parent, { recursive: true }));
  const folder = `${parent}/demo`;
  await runtime.files.makeDirectory(folder);
  const env = { ...runtime.env.all(), CLAUDE_PROJECT_DIR: folder, TMUX: "" };
  const words = [...runtime.selfCommand(), "--detach", "echo"];
  const started = await runtime.commands.run(words, { cwd: folder, env });
  if (started.code !== 0) {
    throw new Error(`Cannot start the demo's session: ${started.stderr.trim().replace(/^svc: /, "")}`);
  }
  const name = new TextDecoder().decode(started.stdout).trim();
  const socket = runtime.env.get("SVC_TMUX_SOCKET");
  const end = spawnArgv(socket, [verbs.killSession(name)]);
  undo.push(() => runtime.commands.run(end, { env: tmuxEnvironment(runtime.env.all()) }));
  const look = ["tmux", ...(socket ? ["-S", socket] : []), "attach", "-t", name].join(" ");
  print(`The demo's agent runs in the tmux session "${name}". Look at it: ${look}\n`);
}
