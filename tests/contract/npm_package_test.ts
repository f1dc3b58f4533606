/** The npm package: built as it would be published, and run under Node 22. */

import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { node22 } from "../../scripts/node22.ts";
import { COMMAND_NAMES } from "../../src/cli/main.ts";

interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

/** Builds in a separate process, with the caches of the user's home. */
async function build(outDir: string): Promise<void> {
  const script = fileURLToPath(new URL("../../scripts/build_npm.ts", import.meta.url));
  const args = ["run", "-A", "--quiet", "--no-check", script, outDir];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

async function runIn(cwd: string, argv: readonly string[]): Promise<Result> {
  const [program = "", ...args] = argv;
  const env = { HOME: cwd, PATH: Deno.env.get("PATH") ?? "", NO_COLOR: "1" };
  const { code, ...output } = await new Deno.Command(program, { args, cwd, env, clearEnv: true }).output();
  const [stdout, stderr] = [output.stdout, output.stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: stdout ?? "", stderr: stderr ?? "" };
}

/** Reads the first line and releases the stream. */
async function firstLine(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes("\n")) break;
  }
  return text;
}

Deno.test("the npm package runs under Node 22 as packed [dep-npm-package]", async (test) => {
  const root = await Deno.makeTempDir({ prefix: "svc-npm-" });
  try {
    await build(`${root}/built`);
    const packed = await runIn(root, ["npm", "pack", "--silent", `${root}/built`]);
    await runIn(root, ["tar", "xzf", packed.stdout.trim()]);
    const cli = `${root}/package/cli.js`;
    const svc = async (...args: string[]): Promise<Result> =>
      await runIn(root, [await node22(), cli, ...args]);

    await test.step("it prints its version and its help, and nothing on stderr", async () => {
      assert.deepEqual(await svc("--version"), { code: 0, stdout: `${config.version}\n`, stderr: "" });
      const help = await svc("--help");
      assert.deepEqual([help.code, help.stderr], [0, ""]);
    });

    await test.step("its documents link only to files that it has, or to the web [pkg-links]", async () => {
      for (const paper of ["README.md", "CHANGELOG.md", "SECURITY.md"]) {
        const text = await Deno.readTextFile(`${root}/package/${paper}`);
        const targets = [...text.matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)].map(([, link, image]) =>
          link ?? image ?? ""
        );
        const local = targets.filter((target) => !/^(?:https?:|mailto:|#)/.test(target));
        for (const target of local) await Deno.stat(`${root}/package/${target.replace(/#.*$/, "")}`);
      }
    });

    await test.step("every command of the table loads", async () => {
      for (const command of COMMAND_NAMES) {
        const { code, stderr } = await svc(command, "--help");
        assert.deepEqual([code, stderr], [0, ""], command);
      }
    });

    await test.step("on an older Node every command names the version it needs, and a hook stays silent [run-node-old]", async () => {
      // Only the version is faked, so this tests the check itself and not what an older Node lacks.
      const old =
        'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })';
      const argv = [await node22(), "--import", `data:text/javascript,${encodeURIComponent(old)}`, cli];
      for (const command of COMMAND_NAMES) {
        const { code, stdout, stderr } = await runIn(root, [...argv, command, "--help"]);
        assert.deepEqual([code, stdout], [1, ""], command);
        assert.match(stderr, /^svc needs Node 22\.16 or newer; this is Node 20\.20\.2\. [^\n]*\n$/, command);
      }
      for (const hook of [["remote-hook", "codex"], ["hook", "Stop", "codex"]]) {
        assert.deepEqual(await runIn(root, [...argv, ...hook]), { code: 0, stdout: "", stderr: "" });
      }
    });

    await test.step("its program is executable and named cli.js, and no script runs at installation [pkg-publish]", async () => {
      const { bin, engines, scripts, publishConfig } = JSON.parse(
        await Deno.readTextFile(`${root}/package/package.json`),
      );
      assert.deepEqual([bin, engines], [{ svc: "cli.js" }, { node: ">=22.16" }]);
      assert.deepEqual([scripts, publishConfig], [undefined, { access: "public", provenance: true }]);
      assert.equal((await Deno.readTextFile(cli)).split("\n")[0], "#!/usr/bin/env node");
      assert.equal(((await Deno.stat(cli)).mode ?? 0) & 0o111, 0o111);
    });

    await test.step("the library can be imported, and has its types", async () => {
      await Deno.writeTextFile(
        `${root}/use.mjs`,
        'import { VERSION } from "./package/mod.js"; console.log(VERSION);',
      );
      assert.equal((await runIn(root, [await node22(), "use.mjs"])).stdout, `${config.version}\n`);
      assert.match(await Deno.readTextFile(`${root}/package/types/mod.d.ts`), /createRelayApi/);
    });

    await test.step("setup registers this package, whose hooks run, and removes it again", async () => {
      await Deno.mkdir(`${root}/.cursor`);
      const made = await svc("setup", "--agent", "cursor");
      assert.equal(made.code, 0, made.stderr);
      const { hooks } = JSON.parse(await Deno.readTextFile(`${root}/.cursor/hooks.json`));
      const input = '{"conversation_id":"1","workspace_roots":["/"],"status":"completed"}';
      const script = `echo '${input}' | ${
        hooks.stop[0].command
      }; echo "exit $?"; ${root}/.svc/bin/svc --version`;
      const ran = await runIn(root, ["sh", "-c", script]);
      assert.deepEqual(ran, { code: 0, stdout: `exit 0\n${config.version}\n`, stderr: "" });
      assert.equal(
        (await Deno.stat(`${root}/package/plugin/svc/scripts/svc-remote.sh`)).mode! & 0o111,
        0o111,
      );
      assert.equal((await svc("setup", "--remove")).code, 0);
      assert.deepEqual(Array.from(Deno.readDirSync(`${root}/.cursor`)), []);
    });

    await test.step("its relay serves the phone's page", async () => {
      const args = [cli, "server", "--listen", "127.0.0.1:0", "--data", `${root}/data`];
      const env = { HOME: root };
      const relay = new Deno.Command(await node22(), { args, env, stdout: "piped", stderr: "null" }).spawn();
      try {
        const line = await firstLine(relay.stdout);
        const base = /listening on (http:\S+)/.exec(line)?.[1] ?? assert.fail(line);
        assert.match(await (await fetch(base)).text(), /<script/);
      } finally {
        relay.kill("SIGTERM");
        assert.equal((await relay.status).code, 0);
      }
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
