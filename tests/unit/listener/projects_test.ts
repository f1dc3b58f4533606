/** Where svc started agents; what a phone may mute and unmute: projects of svc's sessions, not what the user muted. */
import assert from "node:assert/strict";
import { changeMuted, isMuted, loadMuted, readMuted, setMuted } from "../../../src/home/muted.ts";
import {
  KNOWN_PROJECTS_MAX,
  type KnownProject,
  KnownProjects,
  muteProject,
} from "../../../src/listener/projects.ts";
import type { Push } from "../../../src/protocol/push.ts";
import type { TmuxSession } from "../../../src/tmux/sessions.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";

const project = (name: string): KnownProject => ({ project: name, directory: `/work/${name}` });

Deno.test("a project is stored once, for the next daemon too, in a file for the owner only", async () => {
  await using home = await makeTempHome();
  const projects = new KnownProjects(home.files, home.paths);
  await projects.learn([project("a"), project("a"), project("b")]);
  await projects.learn([project("b")]);
  const next = new KnownProjects(home.files, home.paths);
  assert.deepEqual(await next.list(), [project("a"), project("b")]);
  assert.equal((await home.files.info(home.paths.projects))?.mode, 0o600);
});

Deno.test("the oldest projects are removed when there are too many", async () => {
  await using home = await makeTempHome();
  const projects = new KnownProjects(home.files, home.paths);
  await projects.learn([project("first")]);
  await projects.learn(Array.from({ length: KNOWN_PROJECTS_MAX }, (_, at) => project(`p${at}`)));
  const known = await projects.list();
  assert.equal(known.length, KNOWN_PROJECTS_MAX);
  assert.equal(known[0]?.project, "p0");
});

Deno.test("a broken file counts as empty, and is rewritten", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.projects, "{broken");
  const projects = new KnownProjects(home.files, home.paths);
  assert.deepEqual(await projects.list(), []);
  await projects.learn([project("a")]);
  assert.deepEqual(await new KnownProjects(home.files, home.paths).list(), [project("a")]);
});

Deno.test("projects are read and stored as soon as the host's files can be used again, and a full disk is reported once", async () => {
  await using home = await makeTempHome();
  await new KnownProjects(home.files, home.paths).learn([project("a")]);
  let fault: string | undefined = "EMFILE";
  const unlessBroken = <T>(work: () => Promise<T>): Promise<T> =>
    fault === undefined ? work() : Promise.reject(new Error(fault));
  const projects = new KnownProjects({
    ...home.files,
    readText: (path) => unlessBroken(() => home.files.readText(path)),
    replaceText: (path, text, options) => unlessBroken(() => home.files.replaceText(path, text, options)),
  }, home.paths);
  await assert.rejects(projects.learn([project("b")]), /EMFILE/);
  fault = undefined;
  assert.deepEqual(await projects.list(), [project("a")]);
  fault = "ENOSPC";
  await assert.rejects(projects.learn([project("b")]), /ENOSPC/);
  await projects.learn([project("b")]);
  assert.deepEqual(await projects.list(), [project("a"), project("b")]);
  fault = undefined;
  await projects.learn([project("b")]);
  assert.deepEqual(await new KnownProjects(home.files, home.paths).list(), [project("a"), project("b")]);
});

const CREATED = 1_790_000_000;

function sessionOf(name: string, recorded: Partial<TmuxSession["recorded"]> = {}): TmuxSession {
  return {
    socket: "/s",
    id: "$1",
    name,
    created: CREATED,
    activity: CREATED,
    attached: false,
    pane: undefined,
    recorded: {
      agent: "cc",
      project: "p",
      directory: "/work/p/src",
      root: "/work/p",
      claim: "",
      pane: "",
      pid: "",
      ...recorded,
    },
    destroyedWhenUnattached: false,
  };
}

const SESSIONS = [
  sessionOf("svc-p"),
  {
    ...sessionOf("svc-elsewhere", { directory: "/tmp/x", root: "/work/other" }),
    pane: { path: "/work/here" } as NonNullable<TmuxSession["pane"]>,
  },
  sessionOf("svc-own", { agent: "", project: "", directory: "", root: "" }),
  sessionOf("svc-twice"),
  sessionOf("svc-twice"),
];

function pushOf(body: string, agentSessionName?: string): Push {
  return {
    id: "00000000-0000-4000-8000-000000000001",
    type: "project.mute",
    body,
    from: "dev_phone_1",
    ...(agentSessionName === undefined ? {} : { agentSessionName }),
    createdAt: 1,
    expiresAt: 2,
  };
}

async function ask({ files, paths }: TempHome, body: string, session?: string): Promise<string> {
  const { state, reason = "" } = await muteProject(pushOf(body, session), {
    targets: { sessions: () => Promise.resolve(SESSIONS) },
    change: (edit) => changeMuted(files, paths, edit),
    changed: () => {},
  });
  return `${state} ${reason}`.trim();
}

Deno.test("a phone mutes the project of a session and unmutes it, by the session or by its directory [type-mute]", async () => {
  await using home = await makeTempHome();
  const muted = (): Promise<string[]> => loadMuted(home.files, home.paths);
  assert.equal(await ask(home, `mute ${CREATED}000`, "svc-p"), "submitted");
  assert.equal(await ask(home, `mute ${CREATED}000`, "svc-p"), "submitted");
  assert.deepEqual(await muted(), ["/work/p"]);
  assert.equal(await ask(home, `unmute ${CREATED}000`, "svc-p"), "submitted");
  assert.deepEqual(await muted(), []);
  assert.equal(await ask(home, `mute ${CREATED}000`, "svc-elsewhere"), "submitted");
  assert.deepEqual(await muted(), ["/tmp/x"], "a project that does not contain the session's folder");
  assert.ok(isMuted(await muted(), "/tmp/x"));
  assert.equal(await ask(home, "unmute /tmp/x"), "submitted");
  assert.equal(await ask(home, "unmute /tmp/x"), "submitted");
  assert.deepEqual(await readMuted(home.files, home.paths), { directories: [], byPhone: [] });
});

Deno.test("a phone never unmutes what the local user has muted, before or after it [type-mute]", async () => {
  await using home = await makeTempHome();
  const locally = (directory: string, muted: boolean): Promise<boolean> =>
    setMuted(home.files, home.paths, { directory, muted });
  const unmutes = async (): Promise<string[]> => [
    await ask(home, `unmute ${CREATED}000`, "svc-p"),
    await ask(home, "unmute /work/p"),
  ];
  await locally("/work/p", true);
  assert.equal(await ask(home, `mute ${CREATED}000`, "svc-p"), "submitted");
  assert.deepEqual(await unmutes(), ["refused muted_at_computer", "refused muted_at_computer"]);
  await locally("/work/p", false);
  await ask(home, `mute ${CREATED}000`, "svc-p");
  assert.equal(await locally("/work/p", true), false);
  assert.deepEqual(await unmutes(), ["refused muted_at_computer", "refused muted_at_computer"]);
  await locally("/work/p", false);

  await ask(home, `mute ${CREATED}000`, "svc-p");
  await locally("/work", true);
  assert.equal((await unmutes())[0], "refused muted_at_computer", "the folder above is muted");
  assert.deepEqual(await loadMuted(home.files, home.paths), ["/work"]);
});

Deno.test("a phone unmutes everything that it has muted of a session's directories, but nothing while the local user has muted one of them [type-mute]", async () => {
  await using home = await makeTempHome();
  const add = (directory: string): Promise<boolean> =>
    changeMuted(home.files, home.paths, ({ directories, byPhone }) => ({
      directories: [...directories, directory],
      byPhone: [...byPhone, directory],
    }));
  for (const directory of ["/work/other", "/work/here"]) {
    await add(directory);
    assert.equal(await ask(home, `unmute ${CREATED}000`, "svc-elsewhere"), "submitted");
    assert.deepEqual(await loadMuted(home.files, home.paths), [], directory);
    await setMuted(home.files, home.paths, { directory, muted: true });
    assert.equal(await ask(home, `unmute ${CREATED}000`, "svc-elsewhere"), "refused muted_at_computer");
    await setMuted(home.files, home.paths, { directory, muted: false });
  }
});

Deno.test("nothing is muted for another session, one that svc did not start, or a text that says something else [type-mute]", async () => {
  await using home = await makeTempHome();
  const cases: [string, string | undefined, string][] = [
    ["mute 1790000001000", "svc-p", "session_changed"],
    [`mute ${CREATED}000`, "svc-gone", "no_such_session"],
    [`mute ${CREATED}000`, "svc-own", "unknown_project"],
    [`mute ${CREATED}000`, "svc-twice", "ambiguous_session"],
    ["mute", "svc-p", "invalid_body"],
    ["mute /work/p", undefined, "invalid_body"],
    ["mute /work/p", "svc-p", "invalid_body"],
    ["unmute work", undefined, "invalid_body"],
  ];
  for (const [body, session, reason] of cases) {
    assert.equal(await ask(home, body, session), `refused ${reason}`, body);
  }
  assert.equal(await home.files.readText(home.paths.muted), undefined);
});
