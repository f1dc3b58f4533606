/** Pairing a script: the host is paired only with a script whose file is complete. */
import assert from "node:assert/strict";
import { createRelayApi, type RelayApi } from "../../../src/client/api.ts";
import { RelayError } from "../../../src/client/relay_error.ts";
import { loadPaired, type PairedFile, pairedPhones, type PairingHost } from "../../../src/home/pairing.ts";
import {
  loadScriptPairing,
  nextScriptCounter,
  pairScript,
  type ScriptPairing,
} from "../../../src/home/script_pairing.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";
import { Fixture } from "../relay/fixture.ts";

interface Scene extends AsyncDisposable {
  home: TempHome;
  host: PairingHost & { api: RelayApi };
  /** The script's file. */
  path: string;
  pair(changed?: Partial<PairingHost>): Promise<ScriptPairing>;
}

async function makeScene(): Promise<Scene> {
  const home = await makeTempHome();
  const relay = await Fixture.make();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => relay.app(request, "127.0.0.1"),
  );
  const api = createRelayApi({
    baseUrl: `http://127.0.0.1:${server.addr.port}`,
    apiKey: await relay.key(),
  });
  const { files, paths } = home;
  const of = { deviceId: "dev_listener_01234567", hostname: "workstation", now: () => relay.clock.now() };
  const host = { files, paths, api, ...of };
  const path = `${home.directory}/ci.json`;
  return {
    home,
    host,
    path,
    pair: (changed) =>
      pairScript({ ...host, ...changed, api: { ...api, ...changed?.api } }, {
        path,
        name: "script ci",
        baseUrl: api.baseUrl,
      }),
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await relay[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a file that is not a pairing is refused as such, and nothing is written next to it [pair-script]", async () => {
  await using home = await makeTempHome();
  const folder = `${home.directory}/scripts`;
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/other.json`, "{}", { mode: 0o600 });
  const next = (path: string): Promise<ScriptPairing> => nextScriptCounter(home.files, path);
  for (const absent of [`${folder}/mistyped.json`, `${folder}/none/ci.json`]) {
    await assert.rejects(next(absent), /Cannot read the pairing .*: there is no such file\.$/);
  }
  await assert.rejects(next(`${folder}/other.json`), /Cannot use the pairing .*other\.json/);
  assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["other.json"]);
});

const NOTHING = { phones: [], pending: [] };

Deno.test("a script whose file cannot be created is not paired, and an existing file stays unchanged [pair-script]", async () => {
  await using scene = await makeScene();
  const { home, host, path } = scene;
  const options = { path: `${home.directory}/none/ci.json`, name: "script ci", baseUrl: host.api.baseUrl };
  await assert.rejects(pairScript(host, options), /none\/ci\.json.*Name a file in a folder of yours/);
  await Deno.writeTextFile(path, "mine");
  await assert.rejects(scene.pair(), /it exists\. Name a new file/);
  assert.equal(await Deno.readTextFile(path), "mine");
  assert.equal(await home.files.info(home.paths.paired), undefined);
});

Deno.test("a script whose file cannot be completed, or whose claim the relay does not confirm, is not paired, not even later [pair-script]", async () => {
  await using scene = await makeScene();
  const { home, host, path } = scene;
  const replaceText: typeof home.files.replaceText = (at, text, options) =>
    at === path
      ? Promise.reject(new Error("No space left on device"))
      : home.files.replaceText(at, text, options);
  const pairingStatus = (): Promise<never> => Promise.reject(new RelayError("down", { code: "unreachable" }));
  const failures: [Partial<PairingHost>, RegExp][] = [
    [{ files: { ...home.files, replaceText } }, /No space left/],
    [{ api: { ...host.api, pairingStatus } }, /down/],
  ];
  for (const [changed, error] of failures) {
    await assert.rejects(scene.pair(changed), error);
    assert.equal(await home.files.info(path), undefined);
    assert.deepEqual(await pairedPhones(host), [], "the relay has the claim");
    assert.deepEqual(await loadPaired(home.files, home.paths), NOTHING);
  }
});

Deno.test("the first record of a paired script says that it is a script, even if the listener is the first to see its claim [pair-script]", async () => {
  await using scene = await makeScene();
  const { home, host, path } = scene;
  const written: PairedFile[] = [];
  const replaceText: typeof home.files.replaceText = async (at, text, options) => {
    if (at === home.paths.paired) written.push(JSON.parse(text));
    if (at === path) await pairedPhones({ ...host, files });
    await home.files.replaceText(at, text, options);
  };
  const files = { ...home.files, replaceText };
  const made = await scene.pair({ files });
  const phones = written.flatMap((file) => file.phones);
  assert.ok(phones.length > 0);
  for (const { secret, script } of phones) assert.deepEqual([secret, script], [made.secret, true]);
  const { pending, floor } = await loadPaired(home.files, home.paths);
  assert.deepEqual([pending, floor], [[], "psk"]);
  assert.deepEqual(await loadScriptPairing(home.files, path), made);
});
