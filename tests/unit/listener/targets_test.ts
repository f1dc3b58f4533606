/** Where messages go, and the cost of looking up a name that no session has. */
import assert from "node:assert/strict";
import { Targets } from "../../../src/listener/targets.ts";
import { runtime } from "../../../src/runtime/deno.ts";
import { makeSandbox } from "../../helpers/sandbox.ts";

Deno.test("the machine is searched at most once a second, however many unknown names are looked up [sec-search]", async () => {
  await using sandbox = await makeSandbox();
  const searches: string[] = [];
  const run: typeof runtime.commands.run = (argv, options) => {
    if (argv[0] !== "lsof") return runtime.commands.run(argv, options);
    searches.push(argv.join(" "));
    return Promise.resolve({ code: 1, stdout: new Uint8Array(), stderr: "" });
  };
  const { files, uid, platform, commands } = runtime;
  const targets = new Targets({
    files,
    uid,
    platform,
    now: () => Date.now(),
    commands: { ...commands, run, pipe: (...args) => commands.pipe(...args) },
    env: { get: (name) => name === "TMUX_TMPDIR" ? sandbox.root : undefined },
  });
  const names = Array.from({ length: 100 }, (_, n) => `svc-none-${n}`);
  // The first listing causes a search by itself.
  await targets.sessions();
  searches.length = 0;
  const begun = performance.now();
  const found = await Promise.all(names.map((name) => targets.resolve(name)));
  assert.deepEqual(
    new Set(found.map((one) => one.kind === "refused" && one.reason)),
    new Set(["no_such_session"]),
  );
  const seconds = (performance.now() - begun) / 1_000;
  const count = searches.length;
  assert.ok(count > 0 && count <= 1 + seconds, `${count} searches in ${seconds} s`);
  await targets.close();
});
