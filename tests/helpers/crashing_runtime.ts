/**
 * The runtime of a listener that is killed (SIGKILL) at one step of an injection: `SVC_TEST_CRASH` is the step's
 * number, counted from the first line of the journal, or a name, which means the first step with that name. A step is
 * anything that reaches the disk, tmux or the relay.
 */
import { WebSocket as DirectSocket } from "ws";
import { runtime as real } from "../../src/runtime/deno.ts";
import type { AppendFile, PipedChild, Runtime } from "../../src/runtime/types.ts";

const at = Deno.env.get("SVC_TEST_CRASH");
let count: number | undefined;

function step(name: string): void {
  if (count === undefined || (String(++count) !== at && name !== at)) return;
  Deno.stderr.writeSync(new TextEncoder().encode(`svc-test-crash after ${name}\n`));
  Deno.kill(Deno.pid, "SIGKILL");
  // Nothing more may happen until the signal arrives.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

async function openAppend(path: string, options?: { mode?: number }): Promise<AppendFile> {
  const file = await real.files.openAppend(path, options);
  if (!path.endsWith("journal.jsonl")) return file;
  return {
    append: async (text) => {
      count ??= 0;
      await file.append(text);
      step("journal append");
    },
    sync: async () => {
      await file.sync();
      step("journal sync");
    },
    sizeInPlace: () => file.sizeInPlace(),
    close: () => file.close(),
  };
}

function pipe(...args: Parameters<Runtime["commands"]["pipe"]>): PipedChild {
  const child = real.commands.pipe(...args);
  const write = async (bytes: Uint8Array): Promise<void> => {
    await child.stdin.write(bytes);
    step("tmux request");
  };
  return { ...child, stdin: { ...child.stdin, write, close: () => child.stdin.close() } };
}

async function writeText(...args: Parameters<Runtime["files"]["writeText"]>): Promise<void> {
  await real.files.writeText(...args);
  if (args[0].includes("/markers/")) step("marker");
}

const send: (data: string | Uint8Array) => void = DirectSocket.prototype.send;
DirectSocket.prototype.send = function (data: string | Uint8Array): void {
  send.call(this, data);
  if (typeof data === "string" && data.includes('"push.ack"')) step("acknowledgement");
};

export const runtime: Runtime = {
  ...real,
  files: { ...real.files, openAppend, writeText },
  commands: { ...real.commands, pipe },
};

/** Writes an import map like the checkout's, with this or another module as the runtime. */
export async function crashingImportMap(checkout: string, module: string = import.meta.url): Promise<string> {
  const { imports }: { imports: Record<string, string> } = JSON.parse(
    await Deno.readTextFile(`${checkout}deno.json`),
  );
  const folders = Object.entries(imports).flatMap(([name, target]) =>
    target.startsWith("npm:") ? [[`${name}/`, `${target.replace("npm:", "npm:/")}/`]] : []
  );
  return JSON.stringify({
    imports: {
      ...imports,
      ...Object.fromEntries(folders),
      "#runtime": module,
      "#runtime-lean": module,
    },
  });
}
