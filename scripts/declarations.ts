/** Writes the `.d.ts` files of an entry and of what it imports. */

/** The compiler is fetched when a package is built, so that no other task has to install it. */
const COMPILER = "typescript@7.0.2";

interface DeclarationOptions {
  entry: string;
  /** The folder whose tree is kept under `outDir`. */
  root: string;
  outDir: string;
}

/** Only a browser's types: a user's program may not have more. */
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

/** @throws with the compiler's messages when it fails */
export async function emitDeclarations(options: DeclarationOptions): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "svc-types-" });
  try {
    await Deno.writeTextFile(`${directory}/tsconfig.json`, JSON.stringify(tsconfig(options)));
    const args = ["exec", "--yes", `--package=${COMPILER}`, "--", "tsc", "-p", directory];
    const output = await new Deno.Command("npm", { args, cwd: directory }).output();
    if (!output.success) {
      throw new Error(
        `cannot emit declarations of "${options.entry}": ${new TextDecoder().decode(output.stdout)}`,
      );
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
