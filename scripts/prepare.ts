/** Makes a fresh machine ready for the tests, with `--for demo` for `up` and `demo`, with `--for proofs` for `prove`. */

import { fileURLToPath } from "node:url";
import { install, missingTools, type Purpose, toolHint } from "./machine.ts";
import { node22 } from "./node22.ts";
import { unpackFonts } from "./fonts.ts";
import { say } from "./say.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const phoneBuilder = fileURLToPath(new URL("build_phone.ts", import.meta.url));

async function ensureTools(purpose: Purpose): Promise<boolean> {
  const missing = await missingTools(purpose);
  if (missing.length === 0) return true;
  const required = missing.filter(({ isOptional }) => !isOptional);
  if (required.length > 0) say(`missing: ${required.map(({ name }) => name).join(", ")}`);
  await install(missing, say);
  const left = (await missingTools(purpose)).filter(({ isOptional }) => !isOptional);
  for (const tool of left) say(toolHint(tool));
  return left.length === 0;
}

/**
 * Deno links no packages when it runs a program, so that programs running at the same time never relink each other's.
 */
async function installPackages(): Promise<void> {
  const args = ["install", "--quiet", "--frozen"];
  const { code } = await new Deno.Command(Deno.execPath(), { args, cwd: root, stdout: "null" }).spawn()
    .status;
  if (code !== 0) {
    throw new Error(`cannot install the npm packages of deno.lock: deno install ended with ${code}`);
  }
}

async function buildPhone(): Promise<void> {
  const args = ["run", "-A", "--quiet", phoneBuilder];
  const { code } = await new Deno.Command(Deno.execPath(), { args, stdout: "null" }).spawn().status;
  if (code !== 0) {
    throw new Error(`cannot build the phone's page: ${phoneBuilder} ended with ${code}`);
  }
}

/**
 * Installs and builds what is missing; quick when nothing is. Returns false when something must be installed by hand.
 */
export async function prepare(purpose: Purpose): Promise<boolean> {
  if (!await ensureTools(purpose)) return false;
  await installPackages();
  await buildPhone();
  if (purpose === "demo") return true;
  await node22();
  await unpackFonts().catch((error: Error) =>
    say(`the page is not tested with other fonts: ${error.message}`)
  );
  return true;
}

if (import.meta.main) {
  const [option, purpose = ""] = Deno.args.length === 0 ? ["--for", "tests"] : Deno.args;
  const known = (["tests", "demo", "proofs"] as const).find((one) => one === purpose);
  if (option !== "--for" || known === undefined || Deno.args.length > 2) {
    say(
      `cannot prepare for "${
        Deno.args.join(" ")
      }": only "--for demo", "--for proofs" and "--for tests" are known`,
    );
    Deno.exit(2);
  }
  Deno.exit(await prepare(known) ? 0 : 1);
}
