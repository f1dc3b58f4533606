/** The part of the runtime that an agent's hook needs, on Deno: each module more would keep the agent waiting. */

import { files } from "./deno_files.ts";
import { sockets } from "./deno_sockets.ts";
import { restoreTerminal, terminal } from "./deno_terminal.ts";
import { homeFrom, temporaryFrom } from "./directories.ts";
import type { LeanRuntime } from "./types.ts";

function exit(code: number): never {
  restoreTerminal();
  Deno.exit(code);
}

export const runtime: LeanRuntime = {
  args: Deno.args,
  uid: Deno.uid() ?? -1,
  temporaryDirectory: () => temporaryFrom(Deno.env.get("TMPDIR")),
  homeDirectory: () => homeFrom(Deno.env.get("HOME")),
  env: { get: (name) => Deno.env.get(name), all: () => Deno.env.toObject() },
  files,
  sockets,
  terminal,
  exit,
};
