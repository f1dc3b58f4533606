/** Sessions with names or options that the relay would reject: the listener still reports the others. */
import assert from "node:assert/strict";
import { makeStack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

Deno.test("sessions with a name that is too long, or with odd options, do not keep others from the picker [inv-left-out]", async () => {
  await using stack = await makeStack();
  const { sandbox } = stack;
  const long = "svc-".padEnd(300, "x");
  for (const name of [long, "svc-odd", "svc-tidy"]) await sandbox.newSession(name, ["cat"]);
  await sandbox.tmux("set-option", "-t", "=svc-odd:", "@svc_agent", "a\tb\tc");
  await sandbox.tmux("set-option", "-t", "=svc-odd:", "@svc_project", "p".repeat(5_000));
  const log = async (): Promise<string> => await Deno.readTextFile(`${sandbox.svcHome}/listener.log`);
  await until("the log's line", async () => /! left out .*"svc-x+": \/name: at most 256/.test(await log()));
  const { name } = await stack.echo();
  const names = await until("the sessions in the picker", async () => {
    const { devices } = await stack.api.sessions();
    const found = devices.flatMap(({ sessions }) => sessions.map((one) => one.name));
    return found.includes(name) && found;
  });
  assert.ok(Array.isArray(names) && names.includes("svc-tidy") && !names.includes(long));
  assert.doesNotMatch(await log(), /rejected/);
});
