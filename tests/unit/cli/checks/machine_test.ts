/** A home directory that cannot be written. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { tryWrite } from "../../../../src/cli/checks/machine.ts";

Deno.test("a home on a read-only disk is named with the reason, and a trial leaves no file [tty-verify]", async () => {
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
