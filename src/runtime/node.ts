/** The runtime on Node 22 and later. */

import { hostname, networkInterfaces } from "node:os";
import process from "node:process";
import { homeFrom, temporaryFrom } from "./directories.ts";
import { lanAddressAmong } from "./lan_address.ts";
import { commands } from "./node_commands.ts";
import { files } from "./node_files.ts";
import { sockets } from "./node_sockets.ts";
import { restoreTerminal, terminal } from "./node_terminal.ts";
import type { Runtime, Signal } from "./types.ts";

function allVariables(): Record<string, string> {
  const set = Object.entries(process.env).filter((entry): entry is [string, string] =>
    entry[1] !== undefined
  );
  return Object.fromEntries(set);
}

function lanAddress(): string | undefined {
  const interfaces = Object.entries(networkInterfaces());
  return lanAddressAmong(
    interfaces.flatMap(([name, addresses = []]) => addresses.map((address) => ({ ...address, name }))),
  );
}

function onSignal(signal: Signal, handler: () => void): () => void {
  process.on(signal, handler);
  return () => void process.off(signal, handler);
}

function exit(code: number): never {
  restoreTerminal();
  return process.exit(code);
}

export const runtime: Runtime = {
  name: "node",
  version: process.versions.node,
  args: process.argv.slice(2),
  pid: process.pid,
  uid: process.getuid?.() ?? -1,
  platform: process.platform,
  hostname,
  lanAddress,
  cwd: () => process.cwd(),
  temporaryDirectory: () => temporaryFrom(process.env.TMPDIR),
  homeDirectory: () => homeFrom(process.env.HOME),
  env: { get: (name) => process.env[name], all: allVariables },
  files,
  commands,
  sockets,
  terminal,
  selfCommand: () => [process.execPath, process.argv[1] ?? ""],
  onSignal,
  memoryBytes: () => process.memoryUsage.rss(),
  exit,
};
