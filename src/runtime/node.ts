/** The runtime on Node 22 and later. */
import process from "node:process";
import { readlinkSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { hostname, networkInterfaces } from "node:os";
import { commands } from "./node_commands.ts";
import { runtime as lean } from "./node_lean.ts";
import { EMBEDDED_NAMES, hasProxy, lanAddressAmong } from "./system.ts";
import type { EmbeddedFiles, Runtime, Signal } from "./types.ts";

const PROGRAM = "/cli.js";
/** As many as Linux follows. */
const MAX_LINKS = 40;

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

/** Deno runs the npm package too, and gives it no permission by itself. */
const RUN = process.versions.deno === undefined ? [] : ["run", "-A", "--quiet"];

/** npm starts svc by a link, such as `node_modules/.bin/svc`; a process shows its program's own name, `cli.js`. */
function programPath(): string {
  let path = process.argv[1] ?? "";
  for (let links = 0; links < MAX_LINKS && !path.endsWith(PROGRAM); links++) {
    try {
      path = resolve(dirname(path), readlinkSync(path));
    } catch {
      return path;
    }
  }
  return path;
}

/** Asked for by name: no bundle has to find it. */
const sea = process.getBuiltinModule("node:sea");

/** The names are an asset of their own: Node lists its assets only in newer versions. */
function embedded(): EmbeddedFiles | undefined {
  if (!sea?.isSea()) return undefined;
  return {
    names: () => Promise.resolve(JSON.parse(sea.getAsset(EMBEDDED_NAMES, "utf8"))),
    read: (name) => Promise.resolve(new Uint8Array(sea.getAsset(name))),
  };
}

const PROXY_FLAG = "--use-env-proxy";

/** Node ignores them by default. Since 24.14 a call enables them; before that a flag does, so this program restarts with it. */
function followProxies(): void {
  const { execArgv, argv, env, execPath } = process;
  if (!hasProxy(env) || env.NODE_USE_ENV_PROXY !== undefined || execArgv.includes(PROXY_FLAG)) return;
  const http: { setGlobalProxyFromEnv?(): void } = process.getBuiltinModule("node:http");
  if (http.setGlobalProxyFromEnv !== undefined) return http.setGlobalProxyFromEnv();
  const canExecute = "execve" in process && process.allowedNodeEnvironmentFlags.has(PROXY_FLAG);
  if (!canExecute) return;
  const { execve }: { execve?(file: string, args: string[], env: typeof process.env): never } = process;
  execve?.call(process, execPath, [execPath, PROXY_FLAG, ...execArgv, ...argv.slice(1)], env);
}

export const runtime: Runtime = {
  ...lean,
  name: "node",
  version: process.versions.node,
  pid: process.pid,
  platform: process.platform,
  hostname,
  lanAddress,
  cwd: () => process.cwd(),
  commands,
  selfCommand: () => sea?.isSea() ? [process.execPath] : [process.execPath, ...RUN, programPath()],
  embedded,
  followProxies,
  onSignal,
  memoryBytes: () => process.memoryUsage.rss(),
};
