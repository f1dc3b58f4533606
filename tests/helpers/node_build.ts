/** Bundles a program of this checkout for Node. */
import { bundleForNode } from "../../scripts/bundle_for_node.ts";
import { node22 } from "../../scripts/node22.ts";
import { CHECKOUT } from "./sources.ts";

/** Writes `<folder>/<name>.js`; returns the argv that runs it. */
export async function buildForNode(
  entry: string,
  { folder, name = "cli" }: { folder: string; name?: string },
): Promise<string[]> {
  await bundleForNode({ entries: { [name]: entry }, outdir: folder });
  await Deno.writeTextFile(`${folder}/package.json`, `{"type":"module"}`);
  return [await node22(), `${folder}/${name}.js`];
}

/**
 * Copies the examples into the folder, where `@svc/svc` is the built library, as in a user's program; returns the path
 * of the Node that runs them.
 */
export async function libraryForNode(folder: string): Promise<string> {
  const library = `${folder}/node_modules/@svc/svc`;
  await bundleForNode({ entries: { mod: `${CHECKOUT}mod.ts` }, outdir: library });
  await Deno.writeTextFile(`${library}/package.json`, '{"type":"module","exports":"./mod.js"}');
  await Deno.writeTextFile(`${folder}/package.json`, '{"type":"module"}');
  for await (const { name } of Deno.readDir(`${CHECKOUT}examples`)) {
    const text = await Deno.readTextFile(`${CHECKOUT}examples/${name}`);
    await Deno.writeTextFile(`${folder}/${name}`, text.replaceAll('"../mod.ts"', '"@svc/svc"'));
  }
  return await node22();
}
