/** This host's checks: its home, configuration keys, required encryption, and its clock compared with the relay's. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import {
  judgeFloor,
  judgeKeys,
  judgeSkew,
  keyCheck,
  sealingCheck,
  tryWrite,
} from "../../../../src/cli/checks/host.ts";
import { isFull } from "../../../../src/cli/advice.ts";
import { changePaired } from "../../../../src/home/pairing.ts";
import { problem } from "../../../../src/protocol/errors.ts";
import { makeTempHome } from "../../../helpers/temp_home.ts";

Deno.test("a home on a read-only disk is reported with the reason, and the trial leaves no file [tty-verify]", async () => {
  const readOnly = {
    createText: () => Promise.reject(new Error("Read-only file system")),
    remove: () => Promise.resolve(true),
  };
  await assert.rejects(
    tryWrite(readOnly, "/home/me/.svc"),
    /Cannot write in "\/home\/me\/\.svc": Read-only file system/,
  );
  const directory = await Deno.makeTempDir();
  await tryWrite(runtime.files, directory);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(directory)), []);
  await Deno.remove(directory);
});

Deno.test("a full disk and a folder of another account lead to different advice [tty-verify]", async () => {
  const failing = (code: string) => ({
    createText: () => Promise.reject(Object.assign(new Error("no"), { code })),
    remove: () => Promise.resolve(true),
  });
  assert.ok(isFull(await tryWrite(failing("ENOSPC"), "/home/me/.svc").catch((error) => error)));
  assert.ok(!isFull(await tryWrite(failing("EACCES"), "/home/me/.svc").catch((error) => error)));
});

Deno.test("required encryption needs a paired phone; without the requirement none is needed [tty-verify]", () => {
  assert.equal(judgeFloor("off", 0).mark, "ok");
  assert.equal(judgeFloor("base", 0).mark, "fault");
  assert.equal(judgeFloor("psk", 0).fix, "run: svc pair");
  assert.match(judgeFloor("psk", 2).finding, /^2 paired phone\(s\).*"psk"/);
});

Deno.test("a lost or damaged key that the host's phones seal for is reported [tty-verify]", async () => {
  await using home = await makeTempHome();
  const { files, paths } = home;
  const check = (): ReturnType<typeof sealingCheck.run> =>
    sealingCheck.run({ paths, inputs: { config: {}, env: {} } });
  assert.equal((await check()).mark, "ok", "no phone needs one yet");
  const phone = { deviceId: "dev_phone_1", name: "phone", publicKey: "", secret: "", pairedAt: 1 };
  await changePaired(files, paths, (paired) => ({ ...paired, phones: [phone] }));
  assert.match((await check()).finding, /^this host's key is gone: /);
  await files.writeText(paths.identity, "junk", { mode: 0o600 });
  assert.match((await check()).finding, /^Cannot use the key in ".*identity": /);
});

Deno.test("a mistyped key of config.json is a fault that names the intended key; another unknown key is a warning [cmd-verify]", () => {
  assert.equal(judgeKeys(["apiKey", "wsUrl", "allowRemoteApproval"], "/c"), undefined);
  const typo = judgeKeys(["wsUrl", "future", "allowRemoteAproval"], "/c");
  assert.equal(typo?.mark, "fault");
  assert.match(typo?.finding ?? "", /"allowRemoteAproval" is not a key/);
  assert.equal(typo?.fix, 'rename it to "allowRemoteApproval" in "/c"');
  const unknown = judgeKeys(["wsUrl", "somethingElseEntirely"], "/c");
  assert.deepEqual([unknown?.mark, unknown?.finding], [
    "warning",
    'svc does not know "somethingElseEntirely"',
  ]);
});

Deno.test("a new key is advised only for a key that the relay refuses, not while relay or store is down [cmd-verify]", async () => {
  await using home = await makeTempHome();
  let code: "unauthenticated" | "store_unavailable" = "store_unavailable";
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json(problem(code), { status: problem(code).status }),
  );
  const checked = (port: number): ReturnType<typeof keyCheck.run> =>
    keyCheck.run({
      paths: home.paths,
      inputs: { config: { baseUrl: `http://127.0.0.1:${port}`, apiKey: "svc_x" }, env: {} },
    });
  assert.equal((await checked(server.addr.port)).fix, "when the relay answers: svc verify");
  assert.equal((await checked(1)).finding, "not checked: the relay does not answer");
  code = "unauthenticated";
  assert.match((await checked(server.addr.port)).fix ?? "", /svc keys create/);
});

Deno.test("clocks that are far apart are reported, with the direction", () => {
  assert.equal(judgeSkew(29_000).mark, "ok");
  assert.match(judgeSkew(60_000).finding, /60 s behind/);
  assert.match(judgeSkew(-60_000).finding, /60 s ahead of/);
});
