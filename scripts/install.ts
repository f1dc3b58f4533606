/** `deno task install`: makes `svc` a command of this account that runs this checkout. */
import { fileURLToPath } from "node:url";
import { prepare } from "./prepare.ts";
import { say } from "./say.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

async function ranTo(code: number, argv: readonly string[]): Promise<boolean> {
  const [program = "", ...args] = argv;
  try {
    return (await new Deno.Command(program, { args, cwd: ROOT, stdout: "null" }).output()).code === code;
  } catch {
    return false;
  }
}

async function main(): Promise<number> {
  if (!await prepare("demo")) return 1;
  const place = ["--global", "--quiet", "--force", "-A", "--name", "svc", "--config", `${ROOT}deno.json`];
  if (!await ranTo(0, [Deno.execPath(), "install", ...place, `${ROOT}cli.ts`])) {
    say("Cannot install svc: deno install failed. Run it to see why, as README.md has it under Install.");
    return 1;
  }
  const home = Deno.env.get("DENO_INSTALL_ROOT") ?? `${Deno.env.get("HOME")}/.deno`;
  const program = `${home}/bin/svc`;
  if (!await ranTo(0, [program, "--version"])) {
    say(`Cannot run "${program}": it was installed, and does not start.`);
    return 1;
  }
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  say(`Installed ${program}, which runs this checkout.`);
  if (folders.includes(`${home}/bin`)) say("Try it: svc --version");
  else say(`Its folder is not on your PATH. Add it: export PATH="${home}/bin:$PATH"`);
  return 0;
}

Deno.exit(await main());
