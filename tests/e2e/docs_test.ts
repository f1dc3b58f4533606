/** Runs every shell example of the documents as a reader would, against a real relay, listener and agent in a scratch home. */
import assert from "node:assert/strict";
import { FROM_CHECKOUT } from "../helpers/program.ts";
import { PushVendor } from "../helpers/push_vendor.ts";
import { type Ran, run } from "../helpers/run.ts";
import { CHECKOUT, readPages } from "../helpers/sources.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS } from "../helpers/until.ts";

/** Programs that a test machine need not have. */
const NEEDS_PODMAN = "it needs podman and a registry: docs/packages.md says how the image is checked";
const MEASURES = "it takes minutes: bench_hook_test.ts and bench_mirror_test.ts run rows of it";

/** Examples that this test does not run, each with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "npx -y deno@2.9.6 task ok": "it is the gate, of which this test is a part",
  "deno task bench": MEASURES,
  "deno task bench mirror:": MEASURES,
  "deno task bench:node hook:": MEASURES,
  "npm publish ./dist/npm": "it publishes; the build runs it with --dry-run",
  "deno run -A scripts/build_npm.ts": "tests/contract/npm_package_test.ts builds the package",
  "podman build -t svc-relay .": NEEDS_PODMAN,
  "podman run -d --name svc-relay -p 127.0.0.1:7420:7420 -v svc-data:/data svc-relay": NEEDS_PODMAN,
  "podman exec svc-relay svc keys create --name host --scope push:read,push:send --data /data/server":
    NEEDS_PODMAN,
  "svc server --listen 127.0.0.1:7420 --nats nats://a:4222,nats://b:4222,nats://c:4222":
    "the servers are to be filled in; tests/nodes runs three relays on three of them",
  "svc agents check": "it runs the real agents: deno task test:agents",
  "svc agents check codex": "it runs the real agent: deno task test:agents",
  "sudo svc service install relay --system":
    "it needs sudo and systemd: tests/services/service_test.ts verifies its unit",
  "svc service install listener": "it needs systemd: tests/services/service_test.ts runs it with one",
  "svc service install relay -- --listen 127.0.0.1:7420 --public-url https://relay.example":
    "it needs systemd: tests/services/service_test.ts verifies its unit",
  'deno test -A --no-check --filter "part of its name" tests/e2e/mirror_test.ts':
    "the name is to be filled in",
  'deno test -A --no-check --filter "part of its name" tests/phone/terminal_test.ts':
    "the name is to be filled in",
  'SVC_TEST_HEADED=1 deno test -A --no-check --filter "part of its name" tests/phone/terminal_test.ts':
    "the name is to be filled in",
  'SVC_TEST_LAUNCH="/path/to/node /path/to/cli.js" deno test -A --no-check tests/e2e/main_flow_test.ts':
    "the paths are to be filled in",
  "deno task install": "tests/packages installs in this way",
  "deno install --global -A --name svc --config deno.json cli.ts": "deno task install does the same",
  "deno task package": "it takes a minute; tests/packages builds, packs and installs the package",
  "deno install --global -A --name svc npm:@svc/svc":
    "the package is not published; tests/packages installs a packed one",
  "deno run --allow-env --allow-sys --allow-read --allow-write=/srv/relay --allow-net cli.ts server --data /srv/relay":
    "tests/e2e/permissions_test.ts runs the relay with these permissions",
  "deno task compile": "it takes minutes; tests/packages builds and runs the program",
  "./dist/bin/svc up --demo": "it takes minutes to build; tests/packages builds and runs the program",
};

/** Examples that run until they are stopped, with what they print when all is well. */
const UNTIL_STOPPED: Readonly<Record<string, RegExp>> = {
  "npx -y deno@2.9.6 task up --demo": /Open this link: http/,
  "svc server --listen 127.0.0.1:7420 --data /var/lib/svc": /svc server listening on/,
  "svc cc": /the agent has the terminal/,
};

interface Example {
  path: string;
  /** The command as in the page, on one line, without its comment. */
  command: string;
}

/** Returns the commands in blocks marked `sh`. */
function examplesIn({ path, text }: { path: string; text: string }): Example[] {
  return Array.from(text.matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```$/gm), ([, block = ""]) => block)
    .flatMap((block) => block.replace(/\\\n\s*/g, "").split("\n"))
    .map((line) => line.replace(/\s+#\s.*$/, "").trim())
    .filter((command) => command !== "" && !command.startsWith("#"))
    .map((command) => ({ path, command }));
}

const examples = (await readPages()).flatMap(examplesIn);

/** Replacements for the reader's own values. */
interface Reader {
  stack: Stack;
  session: string;
  keyId: string;
  env: Record<string, string>;
}

async function makeReader(stack: Stack, vendor: PushVendor): Promise<Reader> {
  const { api, sandbox } = stack;
  const session = (await stack.echo()).name;
  const { id } = await api.sendPush({ type: "agent.command", agentSessionName: session, body: "hello" });
  const notice = await api.sendPush({ type: "agent.turn", body: "done", data: { hookId: "hook_1a2b3c4d" } });
  const post = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const headers = { "X-API-Key": stack.apiKey, "Content-Type": "application/json" };
    const answer = await fetch(stack.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return await answer.json();
  };
  const phone = await post(`/pairings/${(await post("/pairings", {})).code}/claim`, { name: "reader" });
  const { subscription } = await vendor.subscribe("reader");
  const data = `${sandbox.root}/data`;
  const made = await stack.svc(
    "keys",
    "create",
    "--name",
    "old",
    "--scope",
    "push:read",
    "--data",
    data,
    "--json",
  );
  await Deno.mkdir(`${sandbox.root}/bin`);
  const program = FROM_CHECKOUT.map((word) => `'${word}'`).join(" ");
  const programs = {
    svc: `exec ${program} "$@"`,
    // Makes a refused request fail the example.
    curl: `exec /usr/bin/curl --fail-with-body "$@"`,
    claude: "echo the agent has the terminal\nexec cat",
  };
  for (const [name, script] of Object.entries(programs)) {
    await Deno.writeTextFile(`${sandbox.root}/bin/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const env = {
    ...sandbox.env,
    PATH: `${sandbox.root}/bin:${sandbox.env.PATH}`,
    SVC_BASE_URL: stack.url,
    SVC_API_KEY: stack.apiKey,
    PUSH_ID: id,
    NOTICE_ID: notice.id,
    DEVICE_ID: phone.deviceId ?? "",
    PHONE_KEY: phone.apiKey ?? "",
    HOOK_ID: "hook_1a2b3c4d",
    PAIRING_CODE: (await post("/pairings", {})).code ?? "",
    ENDPOINT: subscription.endpoint,
    P256DH: subscription.keys.p256dh,
    AUTH: subscription.keys.auth,
  };
  return { stack, session, keyId: JSON.parse(made.stdout).id, env };
}

/** Returns the command with the reader's values. */
function filledIn(command: string, { stack, session, keyId }: Reader): string {
  return command
    .replace(/npx -y deno@[\d.]+/g, `'${Deno.execPath()}'`)
    .replaceAll("<checkout>", CHECKOUT.replace(/\/$/, ""))
    .replaceAll("/var/lib/svc", `${stack.sandbox.root}/data`)
    .replaceAll("key_1a2b3c4d5e6f", keyId)
    .replaceAll("127.0.0.1:7420", "127.0.0.1:0")
    .replace("task up", "task up --listen 127.0.0.1:0")
    .replace(/svc-(myproject|demo|app|proj)\b/g, session);
}

async function runExample({ command }: Example, reader: Reader): Promise<Ran> {
  const { sandbox } = reader.stack;
  const script = filledIn(command, reader);
  const cwd = command.includes("deno@") && !command.startsWith("svc()") ? CHECKOUT : sandbox.project;
  const printed = UNTIL_STOPPED[command];
  if (printed === undefined) return await run(["bash", "-c", script], { cwd, env: reader.env });
  // A separate home, whose listener ends with it.
  const env = { ...reader.env, SVC_HOME: `${sandbox.root}/other` };
  return await runOnTerminal(script, { printed, cwd, env });
}

/** Runs the command on a terminal until the text is printed, then presses Ctrl-C. */
async function runOnTerminal(
  script: string,
  { printed, cwd, env }: { printed: RegExp; cwd: string; env: Record<string, string> },
): Promise<Ran> {
  const child = new Deno.Command("script", {
    args: ["-qefc", `exec ${script}`, "/dev/null"],
    cwd,
    env,
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let text = "";
  const limit = setTimeout(() => child.kill("SIGKILL"), SAFETY_LIMIT_MS);
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (printed.test(text)) break;
  }
  clearTimeout(limit);
  const input = child.stdin.getWriter();
  await input.write(new Uint8Array([3])).catch(() => {});
  await input.close().catch(() => {});
  await child.status;
  return { code: printed.test(text) ? 0 : 1, stdout: text, stderr: "" };
}

Deno.test("every example that is left out, or that runs until it is stopped, is in a document", () => {
  const commands = new Set(examples.map(({ command }) => command));
  const named = [...Object.keys(LEFT_OUT), ...Object.keys(UNTIL_STOPPED)];
  assert.deepEqual(named.filter((command) => !commands.has(command)), []);
});

Deno.test("every shell example of the documents runs [doc-examples]", async (t) => {
  await using vendor = new PushVendor();
  await using stack = await makeStack({ server: ["--web-push-loopback"] });
  const reader = await makeReader(stack, vendor);
  for (const example of examples) {
    const ignore = LEFT_OUT[example.command] !== undefined;
    await t.step({
      name: `${example.path}: ${example.command}${ignore ? ` (left out: ${LEFT_OUT[example.command]})` : ""}`,
      ignore,
      async fn() {
        const { code, stdout, stderr } = await runExample(example, reader);
        assert.equal(code, 0, `${stdout}\n${stderr}`);
      },
    });
  }
});
