/** The bare runtime of the measured svc, running an empty file: what no start can be faster than. */
import { fileURLToPath } from "node:url";
import { FROM_CHECKOUT, SVC } from "../tests/helpers/program.ts";
import { CHECKOUT } from "../tests/helpers/sources.ts";
import type { Sandbox } from "../tests/helpers/sandbox.ts";

/** For people: on which runtime svc is measured. */
export const RUNTIME = SVC === FROM_CHECKOUT ? "deno" : "node";

/** argv that runs a program of the bench on Deno, whichever runtime is measured. */
export function denoCommand(path: string, base: string): string[] {
  const run = ["run", "-A", "--quiet", "--no-check", "--config", `${CHECKOUT}deno.json`];
  return [Deno.execPath(), ...run, fileURLToPath(new URL(path, base))];
}

/** Starts it once, to its end. */
export async function makeBare({ root, env }: Sandbox): Promise<() => Promise<unknown>> {
  const empty = `${root}/empty.mjs`;
  await Deno.writeTextFile(empty, "");
  const node = RUNTIME === "node" ? SVC[0] : undefined;
  const command = new Deno.Command(node ?? Deno.execPath(), {
    args: node === undefined ? ["run", "-A", "--quiet", "--no-check", "--no-config", empty] : [empty],
    env,
    clearEnv: true,
  });
  return () => command.output();
}
