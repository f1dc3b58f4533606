/** The identifier of this installation's hooks. */
import assert from "node:assert/strict";
import { saveConfig } from "../../../src/home/config.ts";
import { ensureHookId, newHookId } from "../../../src/home/hook_id.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

Deno.test("it is made once, kept, and every other field with it [res-config-hook]", async () => {
  await using home = await makeTempHome();
  const { files, paths } = home;
  await saveConfig(files, paths, { apiKey: "svc_k" });
  const made = await ensureHookId(files, paths);
  assert.match(made, /^hook_[0-9a-f]{16}$/);
  assert.equal(await ensureHookId(files, paths), made);
  assert.deepEqual(JSON.parse(await Deno.readTextFile(paths.config)), { apiKey: "svc_k", hookId: made });
  assert.notEqual(newHookId(), newHookId());
});
