/** Type-checks what a browser loads with the DOM's types alone: no Deno, no Node, no `#runtime`. */

import assert from "node:assert/strict";
import { CHECKOUT, readSources } from "./helpers/sources.ts";
import { BROWSER_SAFE } from "./layers/rules.ts";

interface Config {
  imports: Record<string, string>;
  compilerOptions: Record<string, unknown>;
}

/** Returns the checkout's own configuration without everything that a browser lacks. */
function browserConfig({ imports, compilerOptions }: Config): Config & { nodeModulesDir: string } {
  const packages = Object.entries(imports).filter(([name]) => !name.startsWith("#runtime"));
  return {
    imports: Object.fromEntries(packages),
    compilerOptions: { ...compilerOptions, lib: ["esnext", "dom", "dom.iterable", "dom.asynciterable"] },
    nodeModulesDir: "none",
  };
}

/** Type-checks files as a browser's; returns the checker's errors, empty if there are none. */
async function complaints(paths: readonly string[]): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "svc-browser-" });
  try {
    const config = browserConfig(JSON.parse(await Deno.readTextFile(`${CHECKOUT}deno.json`)));
    await Deno.writeTextFile(`${directory}/deno.json`, JSON.stringify(config));
    const args = ["check", "--quiet", "--no-lock", "--config", `${directory}/deno.json`, ...paths];
    const output = await new Deno.Command(Deno.execPath(), { args, env: { NO_COLOR: "1" } }).output();
    return output.success ? "" : new TextDecoder().decode(output.stderr);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("protocol, client, crypto and phone need no more than a browser [style-browser-safe]", async () => {
  const folders = Object.keys(BROWSER_SAFE).map((folder) => `src/${folder}/`);
  const sources = (await readSources("src")).filter(({ path }) =>
    folders.some((folder) => path.startsWith(folder))
  );
  const paths = sources.map(({ path }) => CHECKOUT + path);
  assert.equal(await complaints(paths), "");
});

Deno.test("a use of Deno, Node or the runtime does not type-check for a browser", async () => {
  const directory = await Deno.makeTempDir({ prefix: "svc-unsafe-" });
  try {
    const texts = [
      "Deno.cwd();\n",
      "process.exit();\n",
      'import { runtime } from "#runtime";\nruntime.exit(0);\n',
    ];
    for (const text of texts) {
      await Deno.writeTextFile(`${directory}/unsafe.ts`, `${text}export {};\n`);
      assert.match(await complaints([`${directory}/unsafe.ts`]), /unsafe\.ts:\d/, text);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
