/** The demo exits with 0 if every step worked, and with 1 if one failed. */
import assert from "node:assert/strict";
import { FROM_CHECKOUT } from "../helpers/program.ts";
import { run } from "../helpers/run.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";

async function runDemo(
  sandbox: Sandbox,
  env: Record<string, string> = {},
): Promise<{ code: number; text: string }> {
  const demo = FROM_CHECKOUT.with(-1, `${CHECKOUT}scripts/demo.ts`);
  const { code, stdout } = await run(demo, { env: { ...sandbox.env, ...env } });
  return { code, text: stdout };
}

Deno.test("demo: runs the whole path, prints each step with its milliseconds, cleans up, exits 0 [show-demo]", async () => {
  await using sandbox = await makeSandbox();
  const { code, text } = await runDemo(sandbox);
  assert.equal(code, 0, text);
  for (
    const step of [
      "relay",
      "listener",
      "--detach echo",
      "POST",
      "typed",
      "submitted",
      "byte for byte",
      "gone",
    ]
  ) {
    assert.match(text, new RegExp(`^✓ .*${step}.* \\d+ ms$`, "m"));
  }
});

Deno.test("demo: a broken step makes it exit 1 [show-demo-fails]", async () => {
  await using sandbox = await makeSandbox();
  // Without tmux no session can be started.
  const { code, text } = await runDemo(sandbox, { PATH: "/nonexistent" });
  assert.equal(code, 1, text);
  assert.match(text, /^✗ svc --detach echo starts an agent in tmux: /m);
});
