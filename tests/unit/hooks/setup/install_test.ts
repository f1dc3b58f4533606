/** Setup and its removal on real files, for every agent. */
import assert from "node:assert/strict";
import { SETUP_KINDS } from "../../../../src/agents/registry.ts";
import { isInstalled, lineDiff } from "../../../../src/hooks/setup/install.ts";
import type { AgentKind } from "../../../../src/protocol/names.ts";
import { makeSetupBench, type SetupBench } from "../../../helpers/setup_bench.ts";

/** Files of a user who has every agent. */
const THEIRS: Record<string, string> = {
  ".claude/settings.json": '{\n  // mine\n  "permissions": { "allow": ["Read"] },\n  "model": "x"\n}\n',
  ".gemini/settings.json": '{\n\t"ui": {}, // mine\n\t"hooks": { "BeforeAgent": [] }\n}',
  ".codex/config.toml": '# mine\nmodel = "x"\n\n[projects."/work"]\ntrust_level = "trusted"\n',
  ".codex/hooks.json": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}',
  ".cursor/hooks.json": '{ "version": 1, "hooks": { "stop": [{ "command": "mine" }] } }\n',
  ".cursor/cli-config.json": '{"version":1,"permissions":{"allow":[],"deny":[]}}',
  ".config/opencode/opencode.jsonc": '// mine\n{\n  "theme": "x",\n}\n',
  ".copilot/mcp-config.json": '{"mcpServers":{"mine":{"type":"local"}}}\n',
};

async function withHome(
  files: Record<string, string>,
  test: (bench: SetupBench) => Promise<void>,
): Promise<void> {
  await using bench = await makeSetupBench();
  for (const [path, text] of Object.entries(files)) await bench.write(path, text);
  await test(bench);
}

async function installAll(
  { install }: SetupBench,
  kinds: readonly AgentKind[] = SETUP_KINDS,
): Promise<string[]> {
  const actions: string[] = [];
  for (const kind of kinds) actions.push(...(await install(kind)).files.map(({ action }) => action));
  return actions;
}

async function removeAll({ remove }: SetupBench): Promise<void> {
  for (const kind of SETUP_KINDS) await remove(kind);
}

Deno.test("in an empty home: files are created, the second run changes nothing, and removal leaves no trace [set-idempotent, set-remove]", () =>
  withHome({}, async (bench) => {
    const before = await bench.tree();
    const first = await installAll(bench);
    assert.ok(first.includes("create") && !first.includes("change"));
    const after = await bench.tree();
    assert.ok(Object.keys(after).length > 15);
    assert.ok((await installAll(bench)).every((action) => action === "keep"));
    assert.deepEqual(await bench.tree(), after);
    await removeAll(bench);
    assert.deepEqual(await bench.tree(), before);
    assert.deepEqual(await bench.own(), []);
  }));

Deno.test("on the user's own files: their content stays, the second run changes nothing, and removal restores them byte for byte [set-idempotent, set-remove, set-comments]", () =>
  withHome(THEIRS, async (bench) => {
    const before = await bench.tree();
    await installAll(bench);
    const after = await bench.tree();
    for (const path of Object.keys(THEIRS)) assert.notEqual(after[`/${path}`], before[`/${path}`], path);
    for (const path of Object.keys(THEIRS)) assert.match(after[`/${path}`] ?? "", /mine|version/, path);
    assert.ok((await installAll(bench)).every((action) => action === "keep"));
    assert.deepEqual(await bench.tree(), after);
    await removeAll(bench);
    assert.deepEqual(await bench.tree(), before);
  }));

Deno.test("the user's later changes stay; only svc's entries are removed [set-remove]", () =>
  withHome(THEIRS, async (bench) => {
    await installAll(bench);
    const since = await bench.tree();
    const changed = (path: string, change: (text: string) => string): Promise<void> =>
      bench.write(path, change(since[`/${path}`] ?? ""));
    await changed(".claude/settings.json", (text) => text.replace('"x"', '"newer"'));
    await changed(".codex/config.toml", (text) => `${text}\n[newer]\na = 1\n`);
    await changed(".gemini/settings.json", (text) => text.replace('"ui": {}', '"ui": { "newer": true }'));
    assert.ok((await installAll(bench)).every((action) => action === "keep"));
    await removeAll(bench);
    const left = await bench.tree();
    assert.equal(left["/.claude/settings.json"], THEIRS[".claude/settings.json"]?.replace('"x"', '"newer"'));
    assert.equal(left["/.codex/config.toml"], `${THEIRS[".codex/config.toml"]}\n[newer]\na = 1\n`);
    assert.match(left["/.gemini/settings.json"] ?? "", /"newer": true \},? \/\/ mine/);
    assert.ok(!JSON.stringify(left).includes("bin/svc"));
    assert.deepEqual(await bench.own(), []);
  }));

Deno.test("only the first change makes a copy of the file; an svc that moved writes its new path, and can still undo everything [set-backup]", () =>
  withHome({ ".gemini/settings.json": "{}\n" }, async (bench) => {
    await bench.install("gemini");
    const moved = { ...bench.host.paths, launcher: "/elsewhere/.svc/bin/svc" };
    const backups = await bench.own();
    bench.host.paths = moved;
    assert.deepEqual((await bench.install("gemini")).files.map(({ action }) => action), ["change"]);
    const text = (await bench.tree())["/.gemini/settings.json"] ?? "";
    assert.equal(text.match(/remote-hook gemini/g)?.length, 1);
    assert.ok(text.includes("/elsewhere/.svc/bin/svc"));
    assert.deepEqual(await bench.own(), backups);
    await bench.remove("gemini");
    assert.equal((await bench.tree())["/.gemini/settings.json"], "{}\n");
  }));

/** Lets the bench's files be written this many times; then no write succeeds, as after the end of the process. */
function killedAfter(bench: SetupBench, writes: number): { isOver(): boolean; revive(): void } {
  const { files } = bench.host;
  let left = writes;
  bench.host.files = {
    ...files,
    replaceText: (...args) => left-- > 0 ? files.replaceText(...args) : Promise.reject(new Error("killed")),
  };
  return { isOver: () => left < 0, revive: () => void (bench.host.files = files) };
}

const KILLED_KINDS = ["gemini", "copilot", "codex"] as const;

for (const [what, theirs] of [["an empty home", {}], ["the user's own files", THEIRS]] as const) {
  Deno.test(`a setup that was killed at any write is undone byte for byte, or completed by the next one: ${what} [set-remove]`, async () => {
    for (let writes = 0, isOver = false; !isOver; writes++) {
      for (const isRepeated of [false, true]) {
        await withHome(theirs, async (bench) => {
          const before = await bench.tree();
          const killed = killedAfter(bench, writes);
          await installAll(bench, KILLED_KINDS).catch(() => {});
          isOver = !killed.isOver();
          killed.revive();
          if (isRepeated) await installAll(bench, KILLED_KINDS);
          await removeAll(bench);
          assert.deepEqual(await bench.tree(), before, `${writes} write(s)`);
        });
      }
    }
  });
}

Deno.test("a dry run reports every change and makes none [set-dry-run]", () =>
  withHome(THEIRS, async (bench) => {
    const before = await bench.tree();
    for (const kind of SETUP_KINDS) {
      const { files } = await bench.install(kind, { dryRun: true });
      assert.ok(files.some(({ diff }) => diff.some((line) => line.startsWith("+ "))), kind);
    }
    assert.deepEqual([await bench.tree(), await bench.own()], [before, []]);
    await installAll(bench);
    const installed = await bench.tree();
    const { files } = await bench.remove("codex", { dryRun: true });
    assert.deepEqual(files.map(({ action }) => action), ["restore", "restore"]);
    assert.deepEqual(await bench.tree(), installed);
  }));

Deno.test("a file that cannot be edited is reported with the reason, and no file of that agent is touched", () =>
  withHome({ ".codex/config.toml": "model = \n", ".copilot/mcp-config.json": "[1]" }, async (bench) => {
    const before = await bench.tree();
    await assert.rejects(bench.install("codex"), /Cannot edit ".*config\.toml": .*Fix the file/s);
    await assert.rejects(bench.install("copilot"), /Cannot edit ".*mcp-config\.json": .*is not an object/);
    assert.deepEqual(await bench.tree(), before);
  }));

Deno.test("a file that is not UTF-8 is refused, and so is another plugin with the same name", () =>
  withHome({ ".config/opencode/plugin/svc.js": "mine" }, async (bench) => {
    await assert.rejects(bench.install("opencode"), /it exists and is not svc's/);
    assert.deepEqual((await bench.remove("opencode")).files, []);
    await Deno.mkdir(`${bench.home}/.gemini`);
    await Deno.writeFile(`${bench.home}/.gemini/settings.json`, new Uint8Array([0x7b, 0xff, 0x7d]));
    await assert.rejects(bench.install("gemini"), /it is not UTF-8/);
  }));

Deno.test("a link to a missing file is refused, and stays unchanged", () =>
  withHome({}, async (bench) => {
    const path = `${bench.home}/.claude/settings.json`;
    await Deno.mkdir(`${bench.home}/.claude`);
    await Deno.symlink(`${bench.home}/missing/settings.json`, path);
    await assert.rejects(
      bench.install("cc"),
      /it is a link to ".*missing\/settings\.json", which does not exist/,
    );
    await bench.remove("cc");
    assert.equal(await Deno.readLink(path), `${bench.home}/missing/settings.json`);
  }));

Deno.test("the user's empty lists and comments stay in a file that was changed after setup [set-remove]", () =>
  withHome({}, async (bench) => {
    const text = '{\n  "mcpServers": {},\n  "hooks": {\n    "BeforeAgent": [] // none\n  },\n}\n';
    await bench.write(".gemini/settings.json", text);
    await bench.install("gemini");
    const since = (await bench.tree())["/.gemini/settings.json"] ?? "";
    await bench.write(".gemini/settings.json", since.replace("{", '{\n  "newer": 1,'));
    await bench.remove("gemini");
    const left = (await bench.tree())["/.gemini/settings.json"] ?? "";
    assert.equal(left, text.replace("{", '{\n  "newer": 1,'));
  }));

Deno.test("a linked file stays a link, and the file behind it keeps its mode", () =>
  withHome({ "dotfiles/settings.json": "{}\n" }, async (bench) => {
    await Deno.mkdir(`${bench.home}/.claude`);
    await Deno.chmod(`${bench.home}/dotfiles/settings.json`, 0o640);
    await Deno.symlink(`${bench.home}/dotfiles/settings.json`, `${bench.home}/.claude/settings.json`);
    await bench.install("cc");
    assert.ok((await Deno.lstat(`${bench.home}/.claude/settings.json`)).isSymlink);
    assert.equal((await Deno.stat(`${bench.home}/dotfiles/settings.json`)).mode! & 0o777, 0o640);
    await bench.remove("cc");
    assert.equal(await Deno.readTextFile(`${bench.home}/dotfiles/settings.json`), "{}\n");
  }));

Deno.test("an agent is detected by its program or by its editor's directory [set-detect]", () =>
  withHome({ ".cursor/x": "" }, async ({ host }) => {
    const there = async (kind: AgentKind, program?: string): Promise<boolean> => {
      const which = (name: string) => Promise.resolve(name === program ? `/bin/${name}` : undefined);
      return await isInstalled({ ...host, commands: { ...host.commands, which } }, kind);
    };
    assert.deepEqual([await there("cc"), await there("cc", "claude"), await there("codex", "claude")], [
      false,
      true,
      false,
    ]);
    assert.equal(await there("cursor"), true);
  }));

Deno.test("a corrupt manifest loses the copies, but svc's entries can still be removed", () =>
  withHome(THEIRS, async (bench) => {
    await installAll(bench);
    await Deno.writeTextFile(`${bench.host.paths.setup}/manifest.json`, "junk");
    await removeAll(bench);
    assert.ok(!JSON.stringify(await bench.tree()).includes("bin/svc"));
  }));

Deno.test("a setup after the manifest was lost can be removed as well: nothing of the older svc comes back [set-remove]", () =>
  withHome(THEIRS, async (bench) => {
    await installAll(bench);
    await Deno.remove(bench.host.paths.setup, { recursive: true });
    bench.host.paths = { ...bench.host.paths, launcher: "/elsewhere/.svc/bin/svc" };
    bench.host.plugin = `${bench.host.plugin}/.`;
    assert.ok((await installAll(bench)).includes("change"));
    await removeAll(bench);
    const left = await bench.tree();
    assert.doesNotMatch(JSON.stringify(left), /bin\/svc|svc-market|mcp__plugin_svc|Written by svc/);
    for (const path of Object.keys(THEIRS)) assert.match(left[`/${path}`] ?? "", /mine|version/, path);
    assert.deepEqual(await bench.own(), []);
  }));

Deno.test("without the copy of a file, a setup that writes it again keeps the user's content [set-backup, set-remove]", () =>
  withHome(THEIRS, async (bench) => {
    await installAll(bench);
    for (const name of await bench.own()) {
      if (/^\/setup\/.*(?<!manifest\.json)$/.test(name) && !name.endsWith("/")) {
        await Deno.remove(`${bench.host.paths.root}${name}`);
      }
    }
    bench.host.paths = { ...bench.host.paths, launcher: "/elsewhere/.svc/bin/svc" };
    await installAll(bench);
    const after = await bench.tree();
    for (const path of Object.keys(THEIRS)) assert.match(after[`/${path}`] ?? "", /mine|version/, path);
    await removeAll(bench);
    const left = await bench.tree();
    for (const path of Object.keys(THEIRS)) assert.match(left[`/${path}`] ?? "", /mine|version/, path);
    assert.doesNotMatch(JSON.stringify(left), /bin\/svc/);
  }));

Deno.test("a user's server with svc's name is restored with the rest of the file [set-remove]", () =>
  withHome({ ".gemini/settings.json": '{"mcpServers":{"svc":{"command":"mine"}}}' }, async (bench) => {
    const before = await bench.tree();
    const { notes } = await bench.install("gemini");
    assert.match(notes.join(" "), /settings\.json" has a server of yours named svc/);
    assert.doesNotMatch((await bench.install("gemini")).notes.join(" "), /of yours/);
    await bench.remove("gemini");
    assert.deepEqual(await bench.tree(), before);
  }));

Deno.test("setup says that it replaces a user's table with svc's name, and not that it replaces svc's own", () =>
  withHome({ ".codex/config.toml": '[mcp_servers.svc]\ncommand = "mine"\n' }, async (bench) => {
    assert.match((await bench.install("codex", { dryRun: true })).notes.join(" "), /of yours named svc/);
    await bench.install("codex");
    assert.doesNotMatch((await bench.install("codex")).notes.join(" "), /of yours/);
  }));

Deno.test("removal leaves a broken file alone that never had anything of svc's [set-remove]", () =>
  withHome({ ".codex/config.toml": "model = \n" }, async (bench) => {
    assert.deepEqual((await bench.remove("codex")).files, []);
    await bench.write(".codex/config.toml", "model = \n[mcp_servers.svc]\n");
    await assert.rejects(bench.remove("codex"), /Remove svc's entries by hand/);
  }));

const NUMBERS = Array.from({ length: 20 }, (_, at) => `line ${at}`);

Deno.test("the diff shows added, removed and surrounding lines; nothing if nothing changed [set-dry-run]", () => {
  const text = NUMBERS.join("\n");
  assert.deepEqual(lineDiff(text, text), []);
  const changed = NUMBERS.with(5, "other").toSpliced(15, 0, "more").join("\n");
  assert.deepEqual(lineDiff(text, changed), [
    ...["  line 3", "  line 4", "- line 5", "+ other", "  line 6", "  line 7"],
    ...["  line 13", "  line 14", "+ more", "  line 15", "  line 16"],
  ]);
});

Deno.test("the diff of a new file adds every line, that of a deleted one removes every line", () => {
  assert.deepEqual(lineDiff("", "a\nb\n"), ["+ a", "+ b"]);
  assert.deepEqual(lineDiff("a\nb\n", ""), ["- a", "- b"]);
});

Deno.test("the diff shows changes that are too long as one block", () => {
  const [one, other] = ["a", "b"].map((letter) =>
    Array.from({ length: 3_000 }, (_, at) => `${letter}${at}`).join("\n")
  );
  assert.equal(lineDiff(one ?? "", other ?? "").length, 6_000);
});
