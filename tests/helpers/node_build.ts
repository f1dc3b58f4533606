/** Bundles a program of this checkout for Node. */
import { bundleForNode } from "../../scripts/bundle_for_node.ts";
import { node22 } from "../../scripts/node22.ts";

/** Writes `<folder>/<name>.js`; returns the argv that runs it. */
export async function buildForNode(
  entry: string,
  { folder, name = "cli" }: { folder: string; name?: string },
): Promise<string[]> {
  await bundleForNode({ entries: { [name]: entry }, outdir: folder });
  await Deno.writeTextFile(`${folder}/package.json`, `{"type":"module"}`);
  return [await node22(), `${folder}/${name}.js`];
}
