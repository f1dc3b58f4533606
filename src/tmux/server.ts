/** A tmux server as the programs see it: run commands in order, get what they print. */
import type { Commands } from "../runtime/types.ts";
import { spawnArgv, type TmuxCommand } from "./argv.ts";

export interface TmuxServer {
  readonly socket: string;
  /** Runs the commands in order and returns all they print, without the last line end; throws TmuxError at the first that fails. */
  run(...commands: TmuxCommand[]): Promise<string>;
}

/** tmux refused a command; `message` is what tmux said. */
export class TmuxError extends Error {
  override name = "TmuxError";
  /** True when the connection ended under the command: whether it ran cannot be told. */
  readonly lost: boolean;

  constructor(message: string, options: { lost?: boolean } = {}) {
    super(message);
    this.lost = options.lost ?? false;
  }
}

const decoder = new TextDecoder();

/** Every run is one tmux process. */
export function spawningServer(commands: Pick<Commands, "run">, socket: string): TmuxServer {
  return {
    socket,
    async run(...list: TmuxCommand[]): Promise<string> {
      const result = await commands.run(spawnArgv(socket, list));
      if (result.code === 0) return decoder.decode(result.stdout).replace(/\n$/, "");
      if (result.code === 127) throw new TmuxError("cannot run tmux: it is not installed");
      throw new TmuxError(result.stderr.trim() || `tmux exited with ${result.code}`);
    },
  };
}
