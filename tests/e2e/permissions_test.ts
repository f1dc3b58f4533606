/** Commands that need less than all of Deno's permissions, each with what docs/packages.md grants it. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { FROM_CHECKOUT, type Launch, runSvc, startSvc } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { RELAY_READY } from "../helpers/stack.ts";

/** Returns the flags in the page's table for this command, with its paths filled in. */
async function flagsOf(command: string, places: Record<string, string>): Promise<string[]> {
  const page = await Deno.readTextFile(`${CHECKOUT}docs/packages.md`);
  const row = page.split("\n").find((line) =>
    line.startsWith("| ") && line.split("|")[1]?.includes(`\`${command}\``)
  );
  const flags = /`(--allow[^`]*)`/.exec(row ?? "")?.[1] ?? assert.fail(`no row for ${command}`);
  return flags.replace(/<(\w+)>/g, (_, name) => places[name] ?? name).split(" ");
}

function restricted(flags: readonly string[]): Launch {
  return FROM_CHECKOUT.flatMap((word) => word === "-A" ? ["--no-prompt", ...flags] : [word]);
}

Deno.test("the relay, its keys, scripts, hooks and commands that only print run without all permissions [pkg-permissions]", async () => {
  await using sandbox = await makeSandbox();
  const data = `${sandbox.root}/data`;
  const launchOf = async (command: string): Promise<Launch> =>
    restricted(await flagsOf(command, { data, home: sandbox.svcHome }));
  const relay = startSvc(sandbox, ["server", "--listen", "127.0.0.1:0", "--data", data], {
    launch: await launchOf("server"),
  });
  const [, url = ""] = await relay.line(RELAY_READY);
  // The key may not send, so svc send does not wait for a listener.
  const scopes = ["--scope", "push:read"];
  const keys = await runSvc(sandbox, ["keys", "create", "--name", "a", ...scopes, "--data", data, "--json"], {
    launch: await launchOf("keys"),
  });
  assert.equal(keys.code, 0, keys.stderr);
  const { key } = JSON.parse(keys.stdout);
  const api = createRelayApi({ baseUrl: url, apiKey: key });
  assert.deepEqual((await api.listPushes()).pushes, []);
  const env = { SVC_BASE_URL: url, SVC_API_KEY: key };
  for (
    const [command, ...rest] of [["sessions", "--json"], ["status", "--json"], ["send", "svc-none", "hello"]]
  ) {
    const ran = await runSvc(sandbox, [command ?? "", ...rest], {
      launch: await launchOf(command ?? ""),
      env,
    });
    assert.doesNotMatch(ran.stdout + ran.stderr, /NotCapable|allow-/);
    if (command === "sessions") assert.equal(ran.stdout, "[]\n");
  }
  for (const args of [["completions", "bash"], ["--version"]]) {
    const ran = await runSvc(sandbox, args, { launch: await launchOf("completions") });
    assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  }
  const hook = await runSvc(sandbox, ["remote-hook", "cc"], {
    launch: await launchOf("remote-hook"),
    stdin: "{}",
  });
  assert.deepEqual(hook, { code: 0, stdout: "", stderr: "" });
  relay.kill("SIGTERM");
  assert.equal((await relay.exited).code, 0, relay.output());
});

Deno.test("Deno opens /proc, where svc reads an agent's processes, only with all permissions [pkg-permissions]", async () => {
  const args = ["eval", "--quiet", "await Deno.readTextFile('/proc/1/stat')"];
  const all = await new Deno.Command(Deno.execPath(), { args }).output();
  assert.ok(all.success);
  await using sandbox = await makeSandbox();
  const program = `${sandbox.root}/read.ts`;
  await Deno.writeTextFile(program, "await Deno.readTextFile('/proc/1/stat');");
  const limited = [
    "run",
    "--no-prompt",
    "--allow-read",
    "--allow-write",
    "--allow-env",
    "--allow-run",
    program,
  ];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args: limited }).output();
  assert.equal(success, false);
  assert.match(new TextDecoder().decode(stderr), /--allow-all/);
});
