/** Runs an empty file on the runtime that svc uses: the lower bound on any start. */
import { fileURLToPath } from "node:url";
import { FROM_CHECKOUT, SVC } from "../tests/helpers/program.ts";
import { CHECKOUT } from "../tests/helpers/sources.ts";
import type { Sandbox } from "../tests/helpers/sandbox.ts";

/** The runtime that svc is measured on, for the report. */
export const RUNTIME = SVC === FROM_CHECKOUT ? "deno" : "node";

/** Returns the argv that runs a bench program on Deno, whichever runtime is measured. */
export function denoCommand(path: string, base: string): string[] {
  const run = ["run", "-A", "--quiet", "--no-check", "--config", `${CHECKOUT}deno.json`];
  return [Deno.execPath(), ...run, fileURLToPath(new URL(path, base))];
}

/** Returns a function that runs an empty file to its end. */
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
