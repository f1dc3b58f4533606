/** Behavior of files on every runtime. */

import assert from "node:assert/strict";
import { closeSync } from "node:fs";
import type { Case } from "../helpers/on_node.ts";

const reading: Case[] = [
  {
    name: "reading what does not exist finds nothing",
    async run({ files }, directory) {
      const absent = `${directory}/absent`;
      assert.equal(await files.readText(absent), undefined);
      assert.equal(await files.readBytes(absent), undefined);
      assert.equal(await files.info(absent), undefined);
      assert.equal(await files.readLink(absent), undefined);
      assert.equal(await files.realPath(absent), undefined);
      assert.deepEqual(await files.list(absent), []);
      assert.equal(await files.remove(absent), false);
      assert.equal(await files.remove(absent, { recursive: true }), false);
    },
  },
  {
    name: "reading a path below a file finds nothing",
    async run({ files }, directory) {
      await files.writeText(`${directory}/file`, "text");
      assert.equal(await files.readText(`${directory}/file/below`), undefined);
      assert.equal(await files.info(`${directory}/file/below`), undefined);
      assert.deepEqual(await files.list(`${directory}/file/below`), []);
    },
  },
  {
    name: "other failures throw with their code",
    async run({ files }, directory) {
      await assert.rejects(files.readText(directory), { code: "EISDIR" });
      await assert.rejects(files.writeText(`${directory}/absent/file`, ""), { code: "ENOENT" });
      await assert.rejects(files.rename(`${directory}/absent`, `${directory}/other`), { code: "ENOENT" });
      await files.makeDirectory(`${directory}/full/inner`);
      await assert.rejects(files.remove(`${directory}/full`), { code: "ENOTEMPTY" });
    },
  },
  {
    name: "bytes and text come back as written",
    async run({ files }, directory) {
      await files.writeText(`${directory}/file`, "tab\t é 👩‍👩‍👧\u0000\r\n");
      assert.equal(await files.readText(`${directory}/file`), "tab\t é 👩‍👩‍👧\u0000\r\n");
      await files.writeText(`${directory}/file`, "é");
      assert.deepEqual(await files.readBytes(`${directory}/file`), new Uint8Array([0xc3, 0xa9]));
    },
  },
  {
    name: "info reports kind, size, mode, owner and time, through links",
    async run({ files, commands, uid }, directory) {
      await files.writeText(`${directory}/file`, "four", { mode: 0o640 });
      await commands.run(["ln", "-s", "file", `${directory}/link`]);
      const { mtimeMs, ...rest } = await files.info(`${directory}/link`) ?? assert.fail("no info");
      assert.deepEqual(rest, {
        isFile: true,
        isDirectory: false,
        isSymlink: false,
        isSocket: false,
        size: 4,
        mode: 0o640,
        uid,
      });
      assert.ok(Number.isInteger(mtimeMs) && mtimeMs > 1e12);
      assert.equal((await files.info(directory))?.isDirectory, true);
    },
  },
  {
    name: "links are read and resolved; a plain file is not a link",
    async run({ files, commands }, directory) {
      await files.writeText(`${directory}/file`, "");
      await commands.run(["ln", "-s", "file", `${directory}/link`]);
      assert.equal(await files.readLink(`${directory}/link`), "file");
      assert.equal(await files.realPath(`${directory}/link`), await files.realPath(`${directory}/file`));
      assert.equal(await files.readLink(`${directory}/file`), undefined);
    },
  },
  {
    name: "list gives sorted names",
    async run({ files }, directory) {
      for (const name of ["b", "a", ".c"]) await files.writeText(`${directory}/${name}`, "");
      assert.deepEqual(await files.list(directory), [".c", "a", "b"]);
    },
  },
  {
    name: "a program is executable, a text file and a directory are not",
    async run({ files }, directory) {
      await files.writeText(`${directory}/program`, "", { mode: 0o700 });
      await files.writeText(`${directory}/text`, "", { mode: 0o600 });
      assert.equal(await files.isExecutable(`${directory}/program`), true);
      assert.equal(await files.isExecutable(`${directory}/text`), false);
      assert.equal(await files.isExecutable(directory), false);
      assert.equal(await files.isExecutable(`${directory}/absent`), false);
    },
  },
];

const writing: Case[] = [
  {
    name: "writing narrows the mode of a file that others could read",
    async run({ files }, directory) {
      await files.writeText(`${directory}/file`, "old, and longer", { mode: 0o644 });
      await files.writeText(`${directory}/file`, "new", { mode: 0o600 });
      assert.equal(await files.readText(`${directory}/file`), "new");
      assert.equal((await files.info(`${directory}/file`))?.mode, 0o600);
    },
  },
  {
    name: "creating leaves an existing file unchanged",
    async run({ files }, directory) {
      assert.equal(await files.createText(`${directory}/file`, "first", { mode: 0o600 }), true);
      assert.equal(await files.createText(`${directory}/file`, "second"), false);
      assert.equal(await files.readText(`${directory}/file`), "first");
      assert.equal((await files.info(`${directory}/file`))?.mode, 0o600);
    },
  },
  {
    name: "replacing keeps the mode, is atomic and leaves no other file",
    async run({ files }, directory) {
      const path = `${directory}/file`;
      const texts = ["a".repeat(200_000), "b".repeat(300_000)];
      await files.writeText(path, texts[0] ?? "", { mode: 0o600 });
      const replacing = (async () => {
        for (let round = 1; round <= 20; round++) await files.replaceText(path, texts[round % 2] ?? "");
      })();
      for (let round = 0; round < 20; round++) assert.ok(texts.includes(await files.readText(path) ?? ""));
      await replacing;
      assert.deepEqual(await files.list(directory), ["file"]);
      assert.equal((await files.info(path))?.mode, 0o600);
    },
  },
  {
    name: "replacing writes through a link and sets the given mode",
    async run({ files, commands }, directory) {
      await files.writeText(`${directory}/real`, "old", { mode: 0o644 });
      await commands.run(["ln", "-s", "real", `${directory}/link`]);
      await files.replaceText(`${directory}/link`, "new", { mode: 0o600 });
      assert.equal(await files.readText(`${directory}/real`), "new");
      assert.equal(await files.readLink(`${directory}/link`), "real");
      assert.equal((await files.info(`${directory}/real`))?.mode, 0o600);
    },
  },
  {
    name: "a write that fails on a full disk names the file in its error, and leaves no new file",
    async run({ files, commands }, directory) {
      const disk = `${directory}/disk`;
      await files.makeDirectory(disk);
      const mounted = await commands.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]);
      // Some accounts may not mount.
      if (mounted.code !== 0) return;
      try {
        await assert.rejects(files.writeText(`${disk}/all`, "x".repeat(100_000)), { code: "ENOSPC" });
        const full = { code: "ENOSPC", message: /\/disk\/new/ };
        await assert.rejects(files.createText(`${disk}/new`, "text"), full);
        await assert.rejects(files.replaceText(`${disk}/new`, "text"), full);
        assert.deepEqual(await files.list(disk), ["all"]);
        const appended = await files.openAppend(`${disk}/new`);
        await assert.rejects(async () => await appended.append("text"), full);
        await appended.close();
      } finally {
        await commands.run(["umount", "-l", disk]);
      }
    },
  },
  {
    name: "a replacement that fails leaves the old text and no other file",
    async run({ files }, directory) {
      await files.makeDirectory(`${directory}/path/full`);
      await assert.rejects(files.replaceText(`${directory}/path`, "new"), { code: "EISDIR" });
      assert.deepEqual(await files.list(directory), ["path"]);
    },
  },
  {
    name: "appends arrive in the order of the calls",
    async run({ files }, directory) {
      const path = `${directory}/log`;
      await files.writeText(path, "0\n");
      const log = await files.openAppend(path, { mode: 0o600 });
      const lines = Array.from({ length: 200 }, (_, index) => `${index + 1} ${"x".repeat(index)}\n`);
      await Promise.all(lines.map((line) => log.append(line)));
      await log.sync();
      assert.equal(await files.readText(path), `0\n${lines.join("")}`);
      log.close();
    },
  },
  {
    name: "append creates with its mode and writes at the end after a truncation",
    async run({ files }, directory) {
      const path = `${directory}/log`;
      const log = await files.openAppend(path, { mode: 0o600 });
      await log.append("before");
      await files.writeText(path, "");
      await log.append("after");
      assert.equal(await files.readText(path), "after");
      await log.append(new Uint8Array([0, 255]));
      assert.deepEqual((await files.readBytes(path))?.subarray(-2), new Uint8Array([0, 255]));
      assert.equal((await files.info(path))?.mode, 0o600);
      log.close();
    },
  },
  {
    name: "an open file reports its size, unless its path no longer leads to it",
    async run({ files }, directory) {
      const path = `${directory}/log`;
      const log = await files.openAppend(path);
      assert.equal(await log.sizeInPlace(), 0);
      await log.append("ü");
      assert.equal(await log.sizeInPlace(), 2);
      await files.replaceText(path, "another");
      assert.equal(await log.sizeInPlace(), undefined);
      await files.remove(path);
      assert.equal(await log.sizeInPlace(), undefined);
      log.close();
    },
  },
  {
    name: "a file that the system cannot close does not end the program",
    async run({ files, name }, directory) {
      // Deno's files have no descriptor that other code could close.
      if (name !== "node") return;
      const log = await files.openAppend(`${directory}/log`);
      const opened = await Promise.all(
        (await files.list("/proc/self/fd")).map(async (fd) => ({
          fd,
          path: await files.realPath(`/proc/self/fd/${fd}`),
        })),
      );
      closeSync(Number(opened.find(({ path }) => path?.endsWith("/log"))?.fd));
      log.close();
      // The failure arrives after a turn of the thread that closes.
      for (let round = 0; round < 20; round++) await files.info(directory);
    },
  },
  {
    name: "a directory that cannot be made below an existing one is an error, and no endless try",
    async run({ files, platform }, directory) {
      const below = platform === "linux" ? "/proc/sys" : `${directory}/file`;
      if (platform !== "linux") await files.writeText(below, "");
      await assert.rejects(files.makeDirectory(`${below}/one/two`));
      await assert.rejects(files.makeDirectory(`${below}/one`, { mode: 0o700 }));
    },
  },
  {
    name: "directories that are made at the same time do not hinder one another",
    async run({ files }, directory) {
      for (let round = 0; round < 50; round++) {
        const paths = ["x/y/z", "x/y", "x/w", "x/y/q"].map((path) => `${directory}/${round}/${path}`);
        await Promise.all(paths.map((path) => files.makeDirectory(path)));
        for (const path of paths) assert.equal((await files.info(path))?.isDirectory, true);
      }
    },
  },
  {
    name: "directories are made with their parents, idempotently, and removed with their content",
    async run({ files }, directory) {
      await files.makeDirectory(`${directory}/one/two`, { mode: 0o700 });
      await files.makeDirectory(`${directory}/one/two`, { mode: 0o700 });
      assert.equal((await files.info(`${directory}/one/two`))?.mode, 0o700);
      assert.equal(await files.remove(`${directory}/one`, { recursive: true }), true);
      assert.deepEqual(await files.list(directory), []);
    },
  },
  {
    name: "when several calls remove the same file at once, exactly one returns true",
    async run({ files }, directory) {
      for (let round = 0; round < 50; round++) {
        await files.writeText(`${directory}/file`, "");
        const results = await Promise.all(Array.from({ length: 8 }, () => files.remove(`${directory}/file`)));
        assert.deepEqual(results.sort(), [...Array(7).fill(false), true]);
      }
    },
  },
  {
    name: "an empty directory and a dangling link can be removed",
    async run({ files, commands }, directory) {
      await files.makeDirectory(`${directory}/empty`);
      await commands.run(["ln", "-s", "nowhere", `${directory}/link`]);
      assert.equal(await files.remove(`${directory}/empty`), true);
      assert.equal(await files.remove(`${directory}/link`), true);
      assert.deepEqual(await files.list(directory), []);
    },
  },
  {
    name: "modes are set and files renamed over others",
    async run({ files }, directory) {
      await files.writeText(`${directory}/from`, "new", { mode: 0o644 });
      await files.writeText(`${directory}/to`, "old");
      await files.chmod(`${directory}/from`, 0o600);
      await files.rename(`${directory}/from`, `${directory}/to`);
      assert.equal(await files.readText(`${directory}/to`), "new");
      assert.equal((await files.info(`${directory}/to`))?.mode, 0o600);
    },
  },
  {
    name: "a temporary directory is new, private and under the temporary directory",
    async run({ env, files }) {
      const made = await files.makeTempDirectory("svc-made-");
      assert.equal(made.replace(/svc-made-\w+$/, ""), `${env.get("TMPDIR") ?? "/tmp"}/`);
      assert.equal((await files.info(made))?.mode, 0o700);
      await files.remove(made);
    },
  },
];

export const cases: readonly Case[] = [...reading, ...writing];
