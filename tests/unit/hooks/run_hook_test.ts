/** A hook never disturbs its agent, whatever it is given. */
import assert from "node:assert/strict";
import { type HookHost, type HookRun, runHook } from "../../../src/hooks/run_hook.ts";
import { makeHookBench } from "../../helpers/hook_bench.ts";

type Called = Pick<HookRun, "kind" | "event">;

async function printedBy(host: HookHost, called: Called, input: string): Promise<string> {
  let printed = "";
  const print = (text: string): void => void (printed += text);
  await runHook({ ...host, print }, { ...called, input: Promise.resolve(input) });
  return printed;
}

const PROMPT: Called = { kind: "codex" };

Deno.test("invalid input on stdin prints nothing [rm-never-breaks]", async () => {
  await using bench = await makeHookBench();
  const junk = ["", "junk", "[]", "null", "42", '"text"', "{", "[".repeat(10_000), "\0\x1b", '{"prompt":1}'];
  for (const input of junk) {
    for (const kind of ["cc", "codex", "gemini", "cursor", "echo", "nobody", "__proto__"]) {
      for (const called of [{ kind }, { kind, event: "Stop" }]) {
        assert.equal(await printedBy(bench.host, called, input), "", `${kind} ${input.slice(0, 20)}`);
      }
    }
  }
  assert.deepEqual(bench.reports, []);
});

Deno.test("a byte order mark before the JSON is accepted", async () => {
  await using bench = await makeHookBench();
  await bench.mark("go");
  const input = JSON.stringify({ session_id: "c", cwd: bench.project, prompt: "go" });
  assert.match(await printedBy(bench.host, PROMPT, `\uFEFF${input}`), /phone/);
});

Deno.test("a home that cannot be read or written prints nothing [rm-never-breaks]", async () => {
  await using bench = await makeHookBench();
  const file = `${bench.home.directory}/file`;
  await Deno.writeTextFile(file, "");
  const { paths } = bench.host;
  const broken = { ...paths, markers: `${file}/markers`, remote: `${file}/remote`, muted: `${file}/muted` };
  const input = JSON.stringify({ session_id: "c", cwd: bench.project, prompt: "go" });
  for (const called of [PROMPT, { kind: "codex", event: "Stop" }]) {
    assert.equal(await printedBy({ ...bench.host, paths: broken }, called, input), "");
  }
});

Deno.test("a daemon that is missing or does not answer delays nothing [rm-never-breaks]", async () => {
  await using bench = await makeHookBench();
  await bench.mark("go");
  const { paths } = bench.host;
  const host = { ...bench.host, paths: { ...paths, socket: `${bench.home.directory}/nobody.sock` } };
  const input = JSON.stringify({ session_id: "c", cwd: bench.project, prompt: "go" });
  assert.match(await printedBy(host, PROMPT, input), /phone/);
  const mute = await Deno.listen({ transport: "unix", path: host.paths.socket });
  await bench.mark("go");
  assert.match(await printedBy(host, PROMPT, input), /phone/);
  mute.close();
});

Deno.test("markers that are not files, and an invalid state, are ignored", async () => {
  await using bench = await makeHookBench();
  const { markers, remote } = bench.host.paths;
  await Deno.mkdir(`${markers}/directory`, { recursive: true });
  await Deno.writeTextFile(`${markers}/junk`, "x");
  await Deno.mkdir(remote);
  await Deno.writeTextFile(`${remote}/codex.c-1`, "\0junk");
  await bench.mark("go");
  assert.match(await bench.submit("go"), /phone/);
  assert.match(await bench.submit("typed"), /keyboard/);
});

Deno.test("a hook waits only briefly for an agent that never closes stdin", async () => {
  await using bench = await makeHookBench();
  const forever = new Promise<string>(() => {});
  await runHook(bench.host, { ...PROMPT, input: forever });
  assert.deepEqual(bench.reports, []);
});
