/** `svc verify` if the relay's address is not configured: the cause is reported once. */
import assert from "node:assert/strict";
import { runSvc } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { makeStack } from "../helpers/stack.ts";

interface Line {
  name: string;
  mark: "ok" | "warning" | "fault";
  finding: string;
  fix?: string;
}

/** The checks that make requests to the relay. */
const ASKED = ["relay, HTTP", "key", "relay, WebSocket"];

async function verify(sandbox: Sandbox, env: Record<string, string> = {}): Promise<[number, Line[]]> {
  const { code, stdout, stderr } = await runSvc(sandbox, ["verify", "--json"], { env });
  assert.equal(stderr, "");
  return [code, JSON.parse(stdout)];
}

Deno.test("svc verify without a configuration names the cause once, and what was not checked because of it [set-verify]", async () => {
  await using sandbox = await makeSandbox();
  const [code, lines] = await verify(sandbox);
  assert.equal(code, 1);
  const faults = lines.filter(({ mark }) => mark === "fault").map(({ name }) => name);
  assert.deepEqual(faults, ["configuration", ...ASKED]);
  assert.equal(lines.find(({ name }) => name === "configuration")?.finding, "no relay is named");
  for (const line of lines.filter(({ name }) => ASKED.includes(name))) {
    assert.deepEqual(
      [line.finding, line.fix],
      ["not checked: no relay is named", "fix the configuration first"],
      line.name,
    );
  }
});

Deno.test("svc verify names an unusable address only once [set-verify]", async () => {
  await using stack = await makeStack();
  const unusable = "not checked: the relay's address cannot be used";
  const [, lines] = await verify(stack.sandbox, { SVC_BASE_URL: "ftp://nowhere" });
  const findings = ASKED.map((name) => lines.find((line) => line.name === name)?.finding ?? "");
  assert.match(findings[0] ?? "", /^Cannot use the relay's address "ftp:\/\/nowhere" \(SVC_BASE_URL\)/);
  assert.equal(findings[1], unusable);
  const config = `${stack.sandbox.svcHome}/config.json`;
  const text = await Deno.readTextFile(config);
  await Deno.writeTextFile(
    config,
    JSON.stringify({ ...JSON.parse(text), wsUrl: "http://127.0.0.1:7420/ws" }),
  );
  const [, after] = await verify(stack.sandbox);
  assert.deepEqual(
    ASKED.map((name) => after.find((line) => line.name === name)?.finding),
    ASKED.map(() => unusable),
  );
});
