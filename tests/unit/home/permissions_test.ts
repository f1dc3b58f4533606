/** The home is accessible to its owner only. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { type HomePaths, homePaths } from "../../../src/home/paths.ts";
import { checkHome, looseEntries, secureHome } from "../../../src/home/permissions.ts";
import { canBecomeOther, OTHER_UID } from "../../helpers/as_other_account.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";

const mode = (path: string): number => (Deno.statSync(path).mode ?? 0) & 0o777;

Deno.test("directories are created with 0700, looser modes corrected and reported [sec-other-account]", async () => {
  await using home = await makeTempHome();
  const { files, paths } = home;
  const copy = `${paths.root}/old-config.json`;
  for (const path of [paths.config, copy]) await Deno.writeTextFile(path, "{}", { mode: 0o644 });
  await Deno.chmod(paths.root, 0o755);
  const loose = [paths.root, paths.config, copy];
  assert.deepEqual((await looseEntries(files, paths)).map(({ path }) => path).sort(), loose);
  assert.deepEqual((await secureHome(files, { paths, uid: runtime.uid })).sort(), loose);
  assert.deepEqual([mode(paths.root), mode(paths.markers), mode(paths.config)], [0o700, 0o700, 0o600]);
  assert.deepEqual(await secureHome(files, { paths, uid: runtime.uid }), []);
});

/** The paths of an `SVC_HOME` that is not named `.svc`. */
function namedHome({ directory }: TempHome, name: string): Promise<HomePaths> {
  const place = { homeDirectory: directory, cwd: directory, uid: runtime.uid };
  return homePaths({ svcHome: `${directory}/${name}`, ...place });
}

Deno.test("a directory of other files is refused, and keeps their modes [sec-home-foreign]", async () => {
  await using home = await makeTempHome();
  const { files } = home;
  const paths = await namedHome(home, "scripts");
  await Deno.mkdir(`${paths.root}/bin`, { recursive: true });
  await Deno.mkdir(`${paths.root}/server`);
  await Deno.chmod(`${paths.root}/bin`, 0o755);
  await Deno.writeTextFile(`${paths.root}/run.sh`, "");
  await Deno.chmod(`${paths.root}/run.sh`, 0o755);
  await Deno.chmod(paths.root, 0o755);
  const works = { paths, uid: runtime.uid };
  await assert.rejects(
    secureHome(files, works),
    /as svc's folder: it has other files\. Set SVC_HOME to a new/,
  );
  const kept = [paths.root, `${paths.root}/bin`, `${paths.root}/run.sh`].map(mode);
  assert.deepEqual(kept, [0o755, 0o755, 0o755]);
  for (const path of [paths.config, paths.startLock, paths.log]) await Deno.writeTextFile(path, "{}");
  await assert.rejects(
    secureHome(files, works),
    /it has other files/,
    "also with a config.json, locks and logs",
  );
  await Deno.writeTextFile(paths.journal, "");
  await secureHome(files, works);
  assert.deepEqual([mode(paths.root), mode(paths.config), mode(`${paths.root}/run.sh`)], [
    0o700,
    0o600,
    0o755,
  ]);
  // A listing is enough: no file there is touched before.
  const system = { ...paths, root: "/" };
  const listed = { info: files.info, list: () => Promise.resolve(["config.json"]) };
  await assert.rejects(checkHome(listed, system), /Cannot use "\/" as svc's folder/);
});

Deno.test("a folder that holds only what svc, or a person for it, put there is svc's [sec-home-foreign]", async () => {
  await using home = await makeTempHome();
  const { files } = home;
  const paths = await namedHome(home, "second");
  await Deno.mkdir(`${paths.root}/server`, { recursive: true });
  await Deno.writeTextFile(paths.config, "{}", { mode: 0o644 });
  await secureHome(files, { paths, uid: runtime.uid });
  assert.equal(mode(paths.config), 0o600);
});

Deno.test("a folder named .svc is svc's, even if only the launcher that agents' hooks start is left in it [sec-home-foreign]", async () => {
  await using home = await makeTempHome();
  const { files, paths } = home;
  await Deno.mkdir(`${paths.root}/bin`);
  await secureHome(files, { paths, uid: runtime.uid });
  assert.equal(mode(`${paths.root}/bin`), 0o700);
});

Deno.test("a home of another user is refused", async () => {
  await using home = await makeTempHome();
  const stranger = { paths: home.paths, uid: runtime.uid + 1 };
  await assert.rejects(secureHome(home.files, stranger), /belongs to user \d+, not to \d+\. Set SVC_HOME/);
});

Deno.test("the directory of a socket outside the home is created and protected too", async () => {
  await using home = await makeTempHome();
  const paths = { ...home.paths, socket: `${home.directory}/elsewhere/listener.sock` };
  await secureHome(home.files, { paths, uid: runtime.uid });
  assert.equal(mode(`${home.directory}/elsewhere`), 0o700);
  await Deno.chmod(`${home.directory}/elsewhere`, 0o777);
  assert.deepEqual(await secureHome(home.files, { paths, uid: runtime.uid }), [
    `${home.directory}/elsewhere`,
  ]);
});

Deno.test("a file that disappears in the meantime is not a failure", async () => {
  await using home = await makeTempHome();
  const vanishing = `${home.paths.root}/config.json.tmp`;
  await Deno.writeTextFile(vanishing, "", { mode: 0o644 });
  const files = {
    ...home.files,
    async chmod(path: string, given: number) {
      if (path === vanishing) await Deno.remove(path);
      await home.files.chmod(path, given);
    },
  };
  await secureHome(files, { paths: home.paths, uid: runtime.uid });
});

Deno.test({
  name:
    "a socket folder that is another account's link is neither used nor connected to, even while it leads to one of ours [sec-other-account]",
  ignore: !canBecomeOther,
  fn: async () => {
    await using home = await makeTempHome();
    const [real, link] = [`${home.directory}/real`, `${home.directory}/link`];
    await Deno.mkdir(real, { mode: 0o700 });
    await Deno.symlink(real, link);
    const paths = { ...home.paths, socket: `${link}/listener.sock` };
    const listening = await runtime.sockets.listen(paths.socket, (connection) => connection.close());
    const connects = async (): Promise<boolean> => {
      const connection = await runtime.sockets.connect(paths.socket);
      connection?.close();
      return connection !== undefined;
    };
    assert.equal(await connects(), true, "a link of our own");
    await secureHome(home.files, { paths, uid: runtime.uid });
    await new Deno.Command("chown", { args: ["-h", String(OTHER_UID), link] }).output();
    assert.equal(await connects(), false);
    await assert.rejects(secureHome(home.files, { paths, uid: runtime.uid }), /belongs to user 12345/);
    listening.close();
  },
});
