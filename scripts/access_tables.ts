/** Generates the permission tables of docs/security.md by testing every kind of key: `deno run -A scripts/access_tables.ts`. */
import { walkEvents } from "../tests/helpers/access_events.ts";
import { walkRoutes } from "../tests/helpers/access_routes.ts";
import { KEY_KINDS } from "../tests/helpers/access_stage.ts";

export const PAGE: URL = new URL("../docs/security.md", import.meta.url);

/** Returns the page with both tables regenerated. */
export async function renderAccess(page: string): Promise<string> {
  const tables: Record<string, string> = {
    routes: table(await walkRoutes()),
    events: table(await walkEvents()),
  };
  return page.replace(
    /<!-- may-(\w+) -->\n[\s\S]*?<!-- \/may-\1 -->/g,
    (_whole, name: string) => `<!-- may-${name} -->\n\n${tables[name]}\n\n<!-- /may-${name} -->`,
  );
}

function table(rows: string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const head = ["", ...KEY_KINDS];
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

if (import.meta.main) await Deno.writeTextFile(PAGE, await renderAccess(await Deno.readTextFile(PAGE)));
