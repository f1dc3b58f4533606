/** Access: the relay's answers agree with the tables of docs/security.md. */
import assert from "node:assert/strict";
import { PAGE, renderAccess } from "../../../scripts/access_tables.ts";

/** Returns a page without the formatter's aligned columns and wrapped lines. */
function unaligned(page: string): string {
  return page.replace(/\s+/g, " ").replace(/-{3,}/g, "---");
}

Deno.test("every route and every event with every kind of key is answered as docs/security.md says [role-walk]", async () => {
  const page = await Deno.readTextFile(PAGE);
  const hint = "run: deno run -A scripts/access_tables.ts && deno fmt docs/security.md";
  assert.equal(unaligned(page), unaligned(await renderAccess(page)), hint);
});
