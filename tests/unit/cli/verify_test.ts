/** The last line of svc verify. */
import assert from "node:assert/strict";
import { fault, ok, warning } from "../../../src/cli/checks/check.ts";
import { summary } from "../../../src/cli/verify.ts";

Deno.test("the list ends with one sentence, which also says so if only this machine can open the relay", () => {
  assert.match(summary([ok("a"), ok("b")]), /^All is well/);
  assert.equal(summary([ok("a"), warning("b", "c")]), "It works, with 1 warning(s).");
  const local = summary([ok("a")], "http://127.0.0.1:7420");
  assert.match(local, /^All is well on this machine\. Only this machine can open the relay at http:\/\/127/);
  assert.match(local, /a phone needs a tunnel or another address\. See: svc up --help$/);
  assert.match(summary([warning("b", "c")], "http://localhost:7420"), /1 warning.*Only this machine/);
  const far = "https://relay.example";
  assert.equal(
    summary([ok("a")], far),
    `All is well: a phone that can open ${far} can reach this machine.`,
  );
  assert.match(summary([fault("a", "b"), warning("c", "d")]), /^1 of 2 checks failed/);
});
