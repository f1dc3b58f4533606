/** The runtime on Deno. Nothing here loads a `node:` module at start: each costs 10 to 20 ms. */

import { commands } from "./deno_commands.ts";
import { files } from "./deno_files.ts";
import { sockets } from "./deno_sockets.ts";
import { restoreTerminal, terminal } from "./deno_terminal.ts";
import { homeFrom, temporaryFrom } from "./directories.ts";
import { lanAddressAmong } from "./lan_address.ts";
import type { Runtime, Signal } from "./types.ts";

/** The checkout whose `cli.ts` is running; in a test, the one this file belongs to. */
function programUrl(): URL {
  const main = new URL(Deno.mainModule);
  const isProgram = main.protocol === "file:" && main.pathname.endsWith("/cli.ts");
  return isProgram ? main : new URL("../../cli.ts", import.meta.url);
}

function selfCommand(): string[] {
  const program = programUrl();
  const path = (url: URL): string => decodeURIComponent(url.pathname);
  const config = path(new URL("deno.json", program));
  return [Deno.execPath(), "run", "-A", "--quiet", "--config", config, path(program)];
}

function onSignal(signal: Signal, handler: () => void): () => void {
  Deno.addSignalListener(signal, handler);
  return () => Deno.removeSignalListener(signal, handler);
}

function exit(code: number): never {
  restoreTerminal();
  Deno.exit(code);
}

export const runtime: Runtime = {
  name: "deno",
  version: Deno.version.deno,
  args: Deno.args,
  pid: Deno.pid,
  uid: Deno.uid() ?? -1,
  platform: Deno.build.os,
  hostname: () => Deno.hostname(),
  lanAddress: () => lanAddressAmong(Deno.networkInterfaces()),
  cwd: () => Deno.cwd(),
  temporaryDirectory: () => temporaryFrom(Deno.env.get("TMPDIR")),
  homeDirectory: () => homeFrom(Deno.env.get("HOME")),
  env: { get: (name) => Deno.env.get(name), all: () => Deno.env.toObject() },
  files,
  commands,
  sockets,
  terminal,
  selfCommand,
  onSignal,
  memoryBytes: () => Deno.memoryUsage().rss,
  exit,
};
