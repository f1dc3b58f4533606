/** Finding a program, and whether a process is alive. */
import assert from "node:assert/strict";
import {
  findProgram,
  isStoppedByProc,
  isStoppedByPs,
  livesByProc,
  livesByPs,
  suspendWith,
} from "../../../src/runtime/processes.ts";

const isExecutable = (path: string): Promise<boolean> =>
  Promise.resolve(["/usr/bin/tmux", "/opt/bin/tmux", "./here/tmux"].includes(path));

Deno.test("the first folder of PATH with the program wins", async () => {
  assert.equal(await findProgram("tmux", "/bin:/opt/bin:/usr/bin", isExecutable), "/opt/bin/tmux");
  assert.equal(await findProgram("tmux", "/bin", isExecutable), undefined);
  assert.equal(await findProgram("tmux", undefined, isExecutable), undefined);
});

Deno.test("a folder of PATH that this account may not enter is skipped, and hides no program in later folders", async () => {
  const closed = (path: string): Promise<boolean> =>
    path.startsWith("/root/")
      ? Promise.reject(Object.assign(new Error("Permission denied"), { code: "EACCES" }))
      : isExecutable(path);
  assert.equal(await findProgram("tmux", "/root/bin:/usr/bin", closed), "/usr/bin/tmux");
  assert.equal(await findProgram("tmux", "/root/bin", closed), undefined);
  await assert.rejects(findProgram("tmux", "/usr/bin", () => Promise.reject(new TypeError("a defect"))));
});

Deno.test("relative and empty folders of PATH are not searched", async () => {
  assert.equal(await findProgram("tmux", ":./here:here", isExecutable), undefined);
});

Deno.test("a name with a slash is used unchanged", async () => {
  assert.equal(await findProgram("./here/tmux", "/usr/bin", isExecutable), "./here/tmux");
  assert.equal(await findProgram("bin/tmux", "/usr", isExecutable), undefined);
});

const status = (state: string, uid: number): string =>
  `Name:\tcli.ts State: Z\nUmask:\t0022\nState:\t${state}\nPid:\t42\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`;

Deno.test("a sleeping, running or stopped process of this user is alive", () => {
  for (const state of ["S (sleeping)", "R (running)", "T (stopped)", "D (disk sleep)"]) {
    assert.equal(livesByProc(42, 1000, () => status(state, 1000)), true, state);
  }
});

Deno.test("a zombie, a dead and a missing process are not alive", () => {
  assert.equal(livesByProc(42, 1000, () => status("Z (zombie)", 1000)), false);
  assert.equal(livesByProc(42, 1000, () => status("X (dead)", 1000)), false);
  const missing = (path: string): string => {
    throw new Error(path);
  };
  assert.equal(livesByProc(42, 1000, missing), false);
});

Deno.test("a process counts as alive while no file descriptor is left to look at it [fault-files]", () => {
  const failing = (code: string) => (path: string): string => {
    throw Object.assign(new Error(path), { code });
  };
  for (const code of ["EMFILE", "ENFILE", "ENOMEM"]) {
    assert.equal(livesByProc(42, 1000, failing(code)), true, code);
  }
  // Gone, or another user's that the system hides.
  for (const code of ["ENOENT", "ESRCH", "EACCES", "EPERM"]) {
    assert.equal(livesByProc(42, 1000, failing(code)), false, code);
  }
});

Deno.test("another user's process counts as alive only for root", () => {
  assert.equal(livesByProc(42, 1000, () => status("S (sleeping)", 0)), false);
  assert.equal(livesByProc(42, 0, () => status("S (sleeping)", 1000)), true);
});

Deno.test("ps gives the same results if there is no /proc", () => {
  assert.equal(livesByPs(" 1000 S+\n", 1000), true);
  assert.equal(livesByPs(" 1000 Z\n", 1000), false);
  assert.equal(livesByPs(" 0 Ss\n", 1000), false);
  assert.equal(livesByPs("", 1000), false);
});

Deno.test("a process that a signal has stopped differs from one that runs, waits or is gone [wr-suspend]", () => {
  const status = (state: string) => () => `Name:\tT x\nState:\t${state}\nUid:\t1\t1\n`;
  assert.deepEqual(
    ["T (stopped)", "S (sleeping)", "t (tracing stop)"].map((state) => isStoppedByProc(1, status(state))),
    [true, false, false],
  );
  assert.equal(
    isStoppedByProc(1, () => {
      throw new Error("gone");
    }),
    false,
  );
  assert.deepEqual([" 501 T+\n", " 501 S+\n", ""].map(isStoppedByPs), [true, false, false]);
});

Deno.test("a job stops with the child that has the terminal; the end of ps does not count as a change [wr-suspend]", () => {
  let [looks, stops] = [0, 0];
  const onChild = (platform: string): () => void =>
    suspendWith(() => ++looks % 2 === 0, () => void stops++, platform);
  const linux = onChild("linux");
  for (let signal = 0; signal < 4; signal++) linux();
  assert.deepEqual([looks, stops], [4, 2]);
  const darwin = onChild("darwin");
  for (let signal = 0; signal < 4; signal++) darwin();
  assert.equal(looks, 5);
});
