/** A listener and a relay with damaged files still start, report each file, and keep what it protected. */
import assert from "node:assert/strict";
import { runSvc } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";

const JUNK = "junk {[\0".repeat(100);

/** Files that the listener writes again; each is replaced by junk or by a folder. */
const MADE_ANEW = [
  ...["journal.jsonl", "audit.jsonl", "states.json", "projects.json", "listener.pid", "listener.version"],
  ...["listener.log", "service.json"],
];
/** Folders that are replaced by a file. */
const FOLDERS = ["markers", "remote", "answers", "uploads", "last-words", "setup"];
const LOCKS = ["listener.lock", "start.lock", "config.lock", "paired.lock", "muted.lock", "kept.lock"];
/** Files that only the user can repair. */
const KEPT = ["identity", "paired.json", "muted.json", "kept.json"];

async function startDamaged(
  { junk = [], folders = [] }: { junk?: readonly string[]; folders?: readonly string[] },
): Promise<Stack> {
  const stack = await makeStack({ listener: false });
  const { svcHome } = stack.sandbox;
  await Promise.all(junk.map((name) => Deno.writeTextFile(`${svcHome}/${name}`, JUNK, { mode: 0o600 })));
  await Promise.all(folders.map((name) => Deno.mkdir(`${svcHome}/${name}`, { mode: 0o700 })));
  await stack.startListener();
  return stack;
}

function assertNamed(stack: Stack, names: readonly string[]): void {
  const lines = stack.listener.output().split("\n");
  const unnamed = names.filter((name) =>
    !lines.some((line) => line.includes(`${stack.sandbox.svcHome}/${name}`))
  );
  assert.deepEqual(unnamed, [], stack.listener.output());
}

async function assertServed(stack: Stack): Promise<void> {
  const echo = await stack.echo();
  const { receipt } = await stack.send(echo.name, "still here");
  assert.equal(receipt.state, "submitted", JSON.stringify(receipt));
  assert.deepEqual(await echo.prompts(1), ["still here"]);
}

Deno.test("a listener whose files are all junk says so, and types a message once [fault-files]", async () => {
  await using stack = await startDamaged({ junk: [...MADE_ANEW, ...LOCKS, ...FOLDERS] });
  assertNamed(stack, ["journal.jsonl", "states.json", "projects.json", "service.json", ...FOLDERS]);
  await assertServed(stack);
});

Deno.test("a listener that finds folders in place of its files says so, and types a message once [fault-files]", async () => {
  await using stack = await startDamaged({ folders: [...MADE_ANEW, ...LOCKS] });
  assertNamed(stack, MADE_ANEW);
  await assertServed(stack);
});

Deno.test("damaged pairings and mutes still keep out what they kept out, and are not overwritten [fault-files]", async () => {
  await using stack = await startDamaged({ junk: KEPT });
  assertNamed(stack, KEPT);
  const echo = await stack.echo();
  const { receipt } = await stack.send(echo.name, "plain");
  assert.deepEqual([receipt.state, receipt.reason], ["refused", "sealed_required"]);
  for (const name of KEPT) {
    assert.equal(await Deno.readTextFile(`${stack.sandbox.svcHome}/${name}`), JUNK, name);
  }
});

Deno.test("a damaged configuration or database ends the program with one line that says what to do [fault-files]", async () => {
  await using sandbox = await makeSandbox();
  await Deno.mkdir(`${sandbox.svcHome}/server`, { recursive: true });
  const files: [string, string[]][] = [
    ["config.json", ["listener"]],
    ["server/relay.db", ["server", "--listen", "127.0.0.1:0"]],
  ];
  for (const [name, args] of files) {
    await Deno.writeTextFile(`${sandbox.svcHome}/${name}`, JUNK);
    const { code, stdout, stderr } = await runSvc(sandbox, args);
    assert.equal(code, 1, stdout);
    const lines = stderr.split("\n").filter((line) => line !== "");
    assert.equal(lines.length, 1, stderr);
    assert.ok(lines[0]?.includes(`${sandbox.svcHome}/${name}`), stderr);
    assert.match(lines[0] ?? "", /Fix it there|Put a copy/);
    assert.equal(await Deno.readTextFile(`${sandbox.svcHome}/${name}`), JUNK);
  }
});
