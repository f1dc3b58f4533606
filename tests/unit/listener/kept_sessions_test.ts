/** Which marked sessions are restarted, with which arguments, and how often. */
import assert from "node:assert/strict";
import {
  changeKept,
  type KeptSession,
  loadKept,
  restoreKept,
  type RestoreOptions,
} from "../../../src/listener/kept_sessions.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";

const one = (session: string, more: Partial<KeptSession> = {}): KeptSession => ({
  session,
  agent: "cc",
  directory: `/work/${session}`,
  args: [],
  boot: "old",
  ...more,
});

interface Restored {
  started: string[];
  log: string[];
}

/** Starts the listener's service once. */
async function boot(home: TempHome, more: Partial<RestoreOptions> = {}): Promise<Restored> {
  const restored: Restored = { started: [], log: [] };
  await restoreKept({
    files: home.files,
    paths: home.paths,
    boot: "new",
    running: () => Promise.resolve([]),
    start({ agent, directory }, args) {
      restored.started.push([directory, agent, ...args].join(" "));
      return Promise.resolve({ code: 0, stdout: "svc-x\n", stderr: "" });
    },
    log: (line) => void restored.log.push(line),
    ...more,
  });
  return restored;
}

Deno.test("each agent is started in its folder with its own option, in the order of the names [keep-resume, keep-back]", async () => {
  await using home = await makeTempHome();
  const kept = [
    one("svc-a-10", { agent: "codex", args: ["--model", "m"] }),
    one("svc-a-2", { agent: "gemini" }),
    one("svc-a"),
    one("svc-b", { agent: "opencode" }),
    one("svc-c", { agent: "copilot" }),
    one("svc-d", { agent: "cursor", args: ["resume"] }),
  ];
  await changeKept(home.files, home.paths, () => kept);
  assert.deepEqual((await boot(home)).started, [
    "/work/svc-a cc --continue",
    "/work/svc-a-2 gemini --resume latest",
    "/work/svc-a-10 codex resume --last --model m",
    "/work/svc-b opencode --continue",
    "/work/svc-c copilot --continue",
    "/work/svc-d cursor resume",
  ]);
});

Deno.test("a session is started once per boot, even if the listener dies during the first start; an existing one is not started [keep-once]", async () => {
  await using home = await makeTempHome();
  await changeKept(home.files, home.paths, () => [one("svc-a"), one("svc-b"), one("svc-c", { boot: "new" })]);
  const running = (): Promise<string[]> => Promise.resolve(["svc-a"]);
  await new Promise<void>((begun) => {
    const start = (): Promise<never> => {
      begun();
      return new Promise(() => {});
    };
    void boot(home, { running, start });
  });
  assert.deepEqual((await boot(home)).started, []);
  assert.deepEqual((await boot(home, { boot: "newer", running })).started, [
    "/work/svc-b cc --continue",
    "/work/svc-c cc --continue",
  ]);
});

Deno.test("sessions that could not be started are logged, and the others are started", async () => {
  await using home = await makeTempHome();
  await changeKept(
    home.files,
    home.paths,
    () => [one("svc-a", { agent: "abacus" }), one("svc-b"), one("svc-c")],
  );
  const start: RestoreOptions["start"] = ({ directory }) =>
    Promise.resolve(directory.endsWith("b") ? { code: 1, stdout: "", stderr: "no tmux\n" } : undefined);
  const { log } = await boot(home, { start });
  assert.match(log[0] ?? "", /svc-a: this svc does not know the agent "abacus"/);
  assert.match(log[1] ?? "", /svc-b: svc --detach cc ended with 1: no tmux; it is tried again/);
  assert.match(log[2] ?? "", /svc-c: svc --detach cc took too long/);
});

Deno.test("sessions that certainly did not start are retried when the listener starts, those that may have started are not [keep-once, keep-retry]", async () => {
  await using home = await makeTempHome();
  const names = ["svc-a-code", "svc-b-late", "svc-c-spawn", "svc-d-killed", "svc-e"];
  await changeKept(home.files, home.paths, () => names.map((name) => one(name)));
  const start: RestoreOptions["start"] = ({ directory }) => {
    if (directory.endsWith("spawn")) return Promise.reject(new Error("No such cwd"));
    if (directory.endsWith("late")) return Promise.resolve(undefined);
    const code = directory.endsWith("code") ? 1 : directory.endsWith("killed") ? 137 : 0;
    return Promise.resolve({ code, stdout: code === 0 ? "svc-e\n" : "", stderr: "" });
  };
  const { log } = await boot(home, { start });
  assert.match(
    log.join("\n"),
    /svc-c-spawn: .*No such cwd; it is tried again[^]*svc-e: started again as svc-e/,
  );
  assert.deepEqual((await boot(home)).started, [
    "/work/svc-a-code cc --continue",
    "/work/svc-c-spawn cc --continue",
  ]);
  assert.deepEqual((await boot(home)).started, []);
});

Deno.test("nothing is marked while the existing sessions are unknown [keep-retry]", async () => {
  await using home = await makeTempHome();
  await changeKept(home.files, home.paths, () => [one("svc-a")]);
  const running = (): Promise<never> => Promise.reject(new Error("no tmux"));
  await assert.rejects(boot(home, { running }), /no tmux/);
  assert.deepEqual((await boot(home)).started, ["/work/svc-a cc --continue"]);
});

Deno.test("a mark has the name that its session got, even next to one that did not come back [keep-back]", async () => {
  await using home = await makeTempHome();
  const { files, paths } = home;
  await changeKept(files, paths, () => ["svc-a", "svc-a-2", "svc-a-4", "svc-b"].map((name) => one(name)));
  let number = 0;
  const start: RestoreOptions["start"] = ({ directory }) => {
    if (directory.endsWith("svc-a")) {
      return Promise.resolve({ code: 1, stdout: "", stderr: "no such folder" });
    }
    const name = directory.endsWith("b") ? "svc-b" : number++ === 0 ? "svc-a" : "svc-a-2";
    return Promise.resolve({ code: 0, stdout: `${name}\n`, stderr: "" });
  };
  await boot(home, { start });
  assert.deepEqual((await loadKept(files, paths)).map(({ session, directory }) => [session, directory]), [
    ["svc-a-4", "/work/svc-a"],
    ["svc-a", "/work/svc-a-2"],
    ["svc-a-2", "/work/svc-a-4"],
    ["svc-b", "/work/svc-b"],
  ]);
});

Deno.test("the list is for the owner only, and a damaged one is not overwritten", async () => {
  await using home = await makeTempHome();
  const { files, paths } = home;
  await changeKept(files, paths, () => [one("svc-a")]);
  assert.equal((await files.info(paths.kept))?.mode, 0o600);
  await files.writeText(paths.kept, "{");
  await assert.rejects(loadKept(files, paths), /kept\.json": it is damaged/);
  await assert.rejects(changeKept(files, paths, () => []), /damaged/);
  assert.equal(await files.readText(paths.kept), "{");
});
