/** Writes the `.d.ts` files of an entry and of what it imports. */
import { fileURLToPath, pathToFileURL } from "node:url";

/** The compiler is fetched when a package is built, so that no other task installs it. */
const COMPILER = "typescript@7.0.2";

interface DeclarationOptions {
  entry: string;
  /** The folder whose structure is kept under `outDir`. */
  root: string;
  outDir: string;
}

/** Allows only a browser's types: a user's program may not have more. */
function tsconfig({ entry, root, outDir }: DeclarationOptions): Record<string, unknown> {
  return {
    files: [entry],
    compilerOptions: {
      rootDir: root,
      outDir,
      declaration: true,
      emitDeclarationOnly: true,
      allowImportingTsExtensions: true,
      module: "esnext",
      moduleResolution: "bundler",
      target: "es2024",
      lib: ["esnext", "dom", "dom.iterable", "dom.asynciterable"],
      types: [],
      strict: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
    },
  };
}

/** Files that a user's compiler reads; `mod.ts` reaches all others only by `import()`. */
const PUBLIC = /(?:^|\/)(?:mod\.ts|src\/(?:async|protocol|client|crypto|library)\/[\w/]+\.ts)[(:]/;

/** Returns the errors in public files; other files name Node's types, which the compiler does not get. */
function publicErrors(output: string): string {
  return output.split("\n").filter((line) => PUBLIC.test(line)).join("\n");
}

const IMPORTED = /(?:from |import\()"(\.[^"]+)\.ts"/g;

/** Removes the declarations that the entry's declarations do not import. */
async function prune(folder: string, entry: string): Promise<void> {
  const kept = new Set<string>();
  const waiting = [`${folder}/${entry}`];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (kept.has(path)) continue;
    kept.add(path);
    const text = await Deno.readTextFile(path);
    const base = pathToFileURL(path);
    for (const [, name] of text.matchAll(IMPORTED)) {
      waiting.push(fileURLToPath(new URL(`${name}.d.ts`, base)));
    }
  }
  await removeOthers(folder, kept);
}

async function removeOthers(folder: string, kept: ReadonlySet<string>): Promise<void> {
  for (const { name, isDirectory } of await Array.fromAsync(Deno.readDir(folder))) {
    const path = `${folder}/${name}`;
    if (isDirectory) await removeOthers(path, kept);
    else if (!kept.has(path)) await Deno.remove(path);
  }
  if ((await Array.fromAsync(Deno.readDir(folder))).length === 0) await Deno.remove(folder);
}

/** @throws with the compiler's messages when the entry, or what it exports, has errors */
export async function emitDeclarations(options: DeclarationOptions): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "svc-types-" });
  try {
    await Deno.writeTextFile(`${directory}/tsconfig.json`, JSON.stringify(tsconfig(options)));
    const args = ["exec", "--yes", `--package=${COMPILER}`, "--", "tsc", "-p", directory];
    const output = await new Deno.Command("npm", { args, cwd: directory }).output();
    const text = new TextDecoder().decode(output.stdout);
    const errors = publicErrors(text);
    const entry = options.entry.slice(options.root.length).replace(/\.ts$/, ".d.ts");
    const isEmitted = await Deno.stat(`${options.outDir}/${entry}`).then(() => true, () => false);
    if (errors !== "" || !isEmitted) {
      throw new Error(`cannot emit declarations of "${options.entry}": ${errors || text}`);
    }
    await prune(options.outDir, entry);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
