/** The directories in which svc has started agents. */
import assert from "node:assert/strict";
import { KNOWN_PROJECTS_MAX, type KnownProject, KnownProjects } from "../../../src/listener/agent_life.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

const project = (name: string): KnownProject => ({ project: name, directory: `/work/${name}` });

Deno.test("a project is remembered once, for the next daemon too, in a file of its owner alone", async () => {
  await using home = await makeTempHome();
  const projects = new KnownProjects(home.files, home.paths);
  await projects.learn([project("a"), project("a"), project("b")]);
  await projects.learn([project("b")]);
  const next = new KnownProjects(home.files, home.paths);
  assert.deepEqual(await next.list(), [project("a"), project("b")]);
  assert.equal((await home.files.info(home.paths.projects))?.mode, 0o600);
});

Deno.test("the projects known longest go when there are too many", async () => {
  await using home = await makeTempHome();
  const projects = new KnownProjects(home.files, home.paths);
  await projects.learn([project("first")]);
  await projects.learn(Array.from({ length: KNOWN_PROJECTS_MAX }, (_, at) => project(`p${at}`)));
  const known = await projects.list();
  assert.equal(known.length, KNOWN_PROJECTS_MAX);
  assert.equal(known[0]?.project, "p0");
});

Deno.test("a broken file counts as empty, and is written anew", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.projects, "{broken");
  const projects = new KnownProjects(home.files, home.paths);
  assert.deepEqual(await projects.list(), []);
  await projects.learn([project("a")]);
  assert.deepEqual(await new KnownProjects(home.files, home.paths).list(), [project("a")]);
});
