/** A stack whose host and phones reach the relay only through a tap, which can also tamper. */
import { readdir } from "node:fs/promises";
import { newPublicKey } from "./hostile_parties.ts";
import { makeStack, type Stack } from "./stack.ts";
import { type Tap, type TapOptions, tapWire } from "./tapped_wire.ts";

export interface Tapped extends AsyncDisposable {
  stack: Stack;
  tap: Tap;
  /** The relay's WebSocket address, through the tap. */
  wsUrl: string;
}

/** Makes a stack where all traffic between the relay and host and phones passes through the tap. */
export async function tappedStack(
  config: Record<string, unknown> = {},
  change?: TapOptions["change"],
): Promise<Tapped> {
  const stack = await makeStack({ listener: false });
  const tap = tapWire({ port: Number(new URL(stack.url).port), ...(change ? { change } : {}) });
  const wsUrl = stack.wsUrl.replace(/\/\/[^/]+/, `//${tap.host}`);
  const path = `${stack.sandbox.svcHome}/config.json`;
  const { apiKey } = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(
    path,
    JSON.stringify({ apiKey, wsUrl, ...config }),
  );
  await stack.startListener();
  return {
    stack,
    tap,
    wsUrl,
    [Symbol.asyncDispose]: async () => {
      await stack[Symbol.asyncDispose]();
      await tap.close();
    },
  };
}

/** Returns everything that the relay has stored, in its folder and on NATS's disks, as latin1. */
export async function storedBy(
  { sandbox, nats = [] }: Pick<Stack, "sandbox"> & Partial<Pick<Stack, "nats">>,
): Promise<string> {
  const folders = [`${sandbox.svcHome}/server`, ...(nats.length > 0 ? [`${sandbox.root}/nats`] : [])];
  const files = (await Promise.all(folders.map(filesIn))).flat();
  const stored = await Promise.all(files.map((path) => Deno.readFile(path)));
  return stored.map((bytes) => new TextDecoder("latin1").decode(bytes)).join("");
}

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  return names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`);
}

/**
 * Returns a function that replaces the public key in matches of `pattern` with the relay's own; the length stays the
 * same.
 */
export async function keySwapper(pattern: RegExp): Promise<(bytes: Uint8Array) => Uint8Array> {
  const own = await newPublicKey();
  return (bytes) => {
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    const swapped = text.replace(pattern, (found) => found.replace(/[\w-]{87}/, own));
    return Uint8Array.from(swapped, (character) => character.charCodeAt(0));
  };
}
