/** Commands with subcommands: which one runs, and the message if none fits. */
import assert from "node:assert/strict";
import { runSubcommand } from "../../../src/cli/command.ts";
import { UsageError } from "../../../src/cli/output.ts";

const TEXT = { name: "things", summary: "Lists things.", examples: ["svc things"] };

Deno.test("a subcommand gets the arguments after its name", async () => {
  const calls: unknown[] = [];
  const take = (name: string) => (args: readonly string[]): Promise<number> => {
    calls.push([name, ...args]);
    return Promise.resolve(3);
  };
  const group = { ...TEXT, subcommands: { add: take("add"), drop: take("drop") } };
  assert.equal(await runSubcommand(["drop", "it", "--now"], group), 3);
  const listed = { ...group, otherwise: take("list") };
  assert.equal(await runSubcommand(["--json"], listed), 3);
  assert.equal(await runSubcommand([], listed), 3);
  assert.deepEqual(calls, [["drop", "it", "--now"], ["list", "--json"], ["list"]]);
});

Deno.test("an unknown subcommand is quoted, with the existing ones", async () => {
  const run = (): Promise<number> => Promise.resolve(0);
  const group = { ...TEXT, subcommands: { add: run, drop: run } };
  for (const args of [[], ["toString"], ["lose", "--json"]]) {
    await assert.rejects(runSubcommand(args, group), (error) => {
      assert.ok(error instanceof UsageError);
      const called = ["svc things", ...args].join(" ");
      assert.equal(error.message, `Cannot use "${called}": it takes add or drop. See: svc things --help`);
      return true;
    });
  }
  await assert.rejects(runSubcommand(["list"], { ...group, otherwise: run }), {
    name: "UsageError",
    message: 'Cannot use "svc things list": it takes add or drop, or no subcommand. See: svc things --help',
  });
});
