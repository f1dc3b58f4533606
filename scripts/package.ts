/** `deno task package`: builds the npm package of this checkout, and prints the command that installs it. */
import { fileURLToPath } from "node:url";
import { prepare } from "./prepare.ts";
import { say } from "./say.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

async function run(argv: readonly string[]): Promise<string> {
  const [program = "", ...args] = argv;
  const { code, stdout } = await new Deno.Command(program, { args, cwd: ROOT, stderr: "inherit" }).output();
  if (code === 0) return new TextDecoder().decode(stdout);
  say(`"${argv.join(" ")}" ended with ${code}.`);
  Deno.exit(1);
}

if (!await prepare("demo")) Deno.exit(1);
say((await run([Deno.execPath(), "run", "-A", "--quiet", "scripts/build_npm.ts"])).trimEnd());
const name = (await run(["npm", "pack", "--silent", "--pack-destination", "dist", "./dist/npm"])).trim();
say(`\nTo install it: npm install --global ${ROOT}dist/${name}`);
