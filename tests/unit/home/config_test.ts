/** The configuration: errors with their position, changes that keep other fields, the hook id. */
import assert from "node:assert/strict";
import {
  ConfigError,
  ensureHookId,
  jsonFault,
  loadConfig,
  newHookId,
  saveConfig,
} from "../../../src/home/config.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

async function withConfig(text: string, check: (error: unknown) => void): Promise<void> {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.config, text);
  await assert.rejects(loadConfig(home.files, home.paths), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.ok(error.message.includes(home.paths.config), "names the file");
    check(error);
    return true;
  });
}

Deno.test("no file is an empty configuration", async () => {
  await using home = await makeTempHome();
  assert.deepEqual(await loadConfig(home.files, home.paths), {});
});

Deno.test("the file's fields are read, unknown ones kept [res-config-key, res-config-hook, res-config-ws]", async () => {
  await using home = await makeTempHome();
  const config = { apiKey: "svc_k", hookId: "hook_1", wsUrl: "wss://h/stage", newer: { x: 1 } };
  await Deno.writeTextFile(home.paths.config, JSON.stringify(config));
  assert.deepEqual(await loadConfig(home.files, home.paths), config);
});

Deno.test("a file that is not JSON is an error with its position", async () => {
  await withConfig(
    '{\n  "apiKey": "k",\n  oops\n}',
    (error) => assert.match(String(error), /line 3, column 3/),
  );
  await withConfig("", (error) => assert.match(String(error), /is empty, or a folder\. Remove it/));
});

Deno.test("a field of the wrong form is an error that names the field and what would be accepted", async () => {
  await withConfig('{"apiKey": 5}', (error) => assert.match(String(error), /\/apiKey: must be a string/));
  await withConfig(
    '{"requireEncryption": "no"}',
    (error) => assert.match(String(error), /one of off, base, psk/),
  );
  await withConfig('{"hookId": "x"}', (error) => assert.match(String(error), /hook_ and 1 to 64/));
  // The relay would neither count nor mute such a hook.
  await withConfig('{"hookId": "hook_my laptop"}', (error) => assert.match(String(error), /\/hookId/));
  await withConfig("[]", (error) => assert.match(String(error), /must be an object/));
});

Deno.test("a saved field leaves the others unchanged, in a file for the owner only [sec-other-account]", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.config, '{"apiKey": "old", "newer": [1]}', { mode: 0o644 });
  await saveConfig(home.files, home.paths, () => ({ apiKey: "new" }));
  assert.deepEqual(await loadConfig(home.files, home.paths), { apiKey: "new", newer: [1] });
  assert.equal((await Deno.stat(home.paths.config)).mode! & 0o777, 0o600);
});

Deno.test("a broken file is not overwritten by a save", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.config, "{broken");
  await assert.rejects(saveConfig(home.files, home.paths, () => ({ apiKey: "new" })), ConfigError);
  assert.equal(await Deno.readTextFile(home.paths.config), "{broken");
});

const cases: [text: string, line: number, column: number][] = [
  ["", 1, 1],
  ["{", 1, 2],
  ['{"a": 1', 1, 8],
  ['{\n  "a": 1,\n}', 3, 1],
  ['{\n  "a": tru,\n  "b": 1\n}', 2, 11],
  ['{"a": x}', 1, 7],
  ['{"a": 1} trailing', 1, 10],
  ['{\n\n"a" 1}', 3, 5],
  ['{"a": "\t"}', 1, 8],
];

for (const [text, line, column] of cases) {
  Deno.test(`${JSON.stringify(text)} is wrong at ${line}:${column}`, () => {
    assert.deepEqual(jsonFault(text), { line, column });
  });
}

Deno.test("valid JSON has no error", () => {
  assert.equal(jsonFault('{"a": [1, true, null, "x"]}'), undefined);
});

Deno.test("the hook id is created once and kept, with every other field [res-config-hook]", async () => {
  await using home = await makeTempHome();
  const { files, paths } = home;
  await saveConfig(files, paths, () => ({ apiKey: "svc_k" }));
  const made = await ensureHookId(files, paths);
  assert.match(made, /^hook_[0-9a-f]{16}$/);
  assert.equal(await ensureHookId(files, paths), made);
  assert.deepEqual(JSON.parse(await Deno.readTextFile(paths.config)), { apiKey: "svc_k", hookId: made });
  assert.notEqual(newHookId(), newHookId());
});

Deno.test("none of several concurrent changes is lost, and all get the same hook id [res-config-hook]", async () => {
  await using home = await makeTempHome();
  const { files, paths } = home;
  const names = Array.from({ length: 8 }, (_, place) => `newer${place}`);
  const [ids] = await Promise.all([
    Promise.all([ensureHookId(files, paths), ensureHookId(files, paths), ensureHookId(files, paths)]),
    ...names.map((name) => saveConfig(files, paths, () => ({ [name]: true }))),
  ]);
  const { hookId, ...others } = await loadConfig(files, paths);
  assert.deepEqual(ids, [hookId, hookId, hookId]);
  assert.deepEqual(others, Object.fromEntries(names.map((name) => [name, true])));
});
