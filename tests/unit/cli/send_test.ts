/** How svc send reports a receipt. */
import assert from "node:assert/strict";
import { describe } from "../../../src/cli/send.ts";

Deno.test("a refusal names the command that helps, if there is one [cli-send]", () => {
  const refusal = { state: "refused", final: true, at: {} } as const;
  assert.match(
    describe({ ...refusal, reason: "muted" }),
    /^refused \(muted\): The project is muted\. .*: svc unmute$/,
  );
  assert.match(describe({ ...refusal, reason: "no_such_session" }), /: svc sessions$/);
  assert.match(describe({ ...refusal, reason: "pane_dead" }), /takes no input\.$/);
});
