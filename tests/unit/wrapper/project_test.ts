/** Which project a wrapper run belongs to. */
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { type Project, resolveProject } from "../../../src/wrapper/project.ts";

async function withTree(
  test: (
    root: string,
    resolve: (cwd: string, env?: Record<string, string>) => Promise<Project>,
  ) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "svc-project-" }));
  try {
    await Deno.mkdir(`${root}/repo/.git`, { recursive: true });
    await Deno.mkdir(`${root}/repo/src/deep`, { recursive: true });
    await Deno.mkdir(`${root}/my.plain dir`);
    const { files } = runtime;
    await test(root, (cwd, env = {}) => resolveProject({ cwd, env, files }));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("the editors' variables win, in their order [wrap-dir-env, wr-basename]", () =>
  withTree(async (root, resolve) => {
    const env = { WINDSURF_PROJECT_DIR: "/w/wind", CURSOR_PROJECT_DIR: "/c/curs" };
    const all = { ...env, CLAUDE_PROJECT_DIR: "/a/claude/" };
    assert.equal((await resolve(`${root}/repo`, all)).name, "claude");
    assert.equal((await resolve(`${root}/repo`, env)).name, "curs");
    assert.equal((await resolve(`${root}/repo`, { ...env, CURSOR_PROJECT_DIR: "" })).name, "wind");
  }));

Deno.test("else the root of the git repository, from anywhere in it [wrap-dir-git]", () =>
  withTree(async (root, resolve) => {
    assert.deepEqual(await resolve(`${root}/repo/src/deep`), { name: "repo", root: `${root}/repo` });
    assert.deepEqual(await resolve(`${root}/repo`), { name: "repo", root: `${root}/repo` });
  }));

Deno.test("a worktree, whose .git is a file, is a repository of its own", () =>
  withTree(async (root, resolve) => {
    await Deno.writeTextFile(`${root}/repo/src/.git`, "gitdir: elsewhere");
    assert.equal((await resolve(`${root}/repo/src/deep`)).name, "src");
  }));

Deno.test("else the working directory; odd characters become _ [wrap-dir-cwd, wr-underscore]", () =>
  withTree(async (root, resolve) => {
    const directory = `${root}/my.plain dir`;
    assert.deepEqual(await resolve(directory), { name: "my_plain_dir", root: directory });
    assert.deepEqual(await resolve("/"), { name: "project", root: "/" });
  }));

Deno.test("a link and its directory are one project", () =>
  withTree(async (root, resolve) => {
    await Deno.symlink(`${root}/repo`, `${root}/link`);
    const linked = await resolve(root, { CLAUDE_PROJECT_DIR: `${root}/link` });
    assert.deepEqual(linked, { name: "link", root: `${root}/repo` });
  }));
