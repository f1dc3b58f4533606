/** The runtime on Deno. Nothing here loads a `node:` module at start: each costs 10 to 20 ms. */

import { commands } from "./deno_commands.ts";
import { runtime as lean } from "./deno_lean.ts";
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

export const runtime: Runtime = {
  ...lean,
  name: "deno",
  version: Deno.version.deno,
  pid: Deno.pid,
  platform: Deno.build.os,
  hostname: () => Deno.hostname(),
  lanAddress: () => lanAddressAmong(Deno.networkInterfaces()),
  cwd: () => Deno.cwd(),
  commands,
  selfCommand,
  onSignal,
  memoryBytes: () => Deno.memoryUsage().rss,
};
