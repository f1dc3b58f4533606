/** The rule of sticky REMOTE mode, case by case, and the file that keeps a conversation's state. */
import assert from "node:assert/strict";
import {
  CONVERSATIONS_MAX,
  nextRemote,
  type Notice,
  noticeText,
  readRemote,
  type RemoteEvent,
  type RemoteHome,
  type RemoteState,
  writeRemote,
} from "../../../src/hooks/follow_remote.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";

type Submitted = RemoteEvent & { kind: "prompt" };

const typed: Submitted = { kind: "prompt", matched: false, fromMachine: false, muted: false };
const fromPhone: Submitted = { ...typed, matched: true };
const fromTask: Submitted = { ...typed, fromMachine: true };
const compacted: RemoteEvent = { kind: "compacted", muted: false };
const ended: RemoteEvent = { kind: "ended" };
const muted = (event: Submitted): Submitted => ({ ...event, muted: true });

function check(cases: [RemoteState, RemoteEvent, RemoteState, Notice | undefined][]): void {
  for (const [before, event, state, notice] of cases) {
    assert.deepEqual(nextRemote(before, event), { state, notice }, `${before} ${JSON.stringify(event)}`);
  }
}

Deno.test("a prompt from the phone turns it on, and the model is informed each time [remote-told, remote-sticky]", () => {
  check([["off", fromPhone, "on", "phone"], ["on", fromPhone, "on", "phone"], [
    "untold",
    fromPhone,
    "on",
    "phone",
  ]]);
});

Deno.test("a typed prompt ends it, and the model is informed once [rm-ends]", () => {
  check([["on", typed, "off", "keyboard"], ["off", typed, "off", undefined]]);
});

Deno.test("a prompt that the agent itself submits neither starts nor ends it", () => {
  check([["off", fromTask, "off", undefined], ["on", fromTask, "on", undefined]]);
});

Deno.test("a muted project is never flagged, and muting ends it [remote-muted, rm-ends-mute]", () => {
  check([
    ["off", muted(fromPhone), "off", undefined],
    ["on", muted(fromPhone), "off", "muted"],
    ["on", muted(typed), "off", "muted"],
    ["on", { kind: "compacted", muted: true }, "on", undefined],
  ]);
});

Deno.test("the model is informed again after a compaction, while the mode lasts [rm-compact]", () => {
  check([["on", compacted, "on", "phone"], ["off", compacted, "off", undefined]]);
});

Deno.test("the end of a session ends it; the model is informed if the conversation is resumed [rm-ends-mute]", () => {
  check([
    ["on", ended, "untold", undefined],
    ["off", ended, "off", undefined],
    ["untold", ended, "untold", undefined],
    ["untold", compacted, "untold", undefined],
    ["untold", typed, "off", "keyboard"],
    ["untold", fromTask, "untold", undefined],
  ]);
});

Deno.test("the model is instructed to end every response with svc_ask until further notice [remote-sticky]", () => {
  assert.match(noticeText("phone"), /from their phone/);
  assert.match(
    noticeText("phone"),
    /Until you are told otherwise, end every response by calling .* svc_ask/,
  );
  for (const notice of ["keyboard", "muted"] as const) {
    assert.match(noticeText(notice), /REMOTE mode has ended/);
  }
});

const remoteOf = ({ files, paths }: TempHome): RemoteHome => ({ files, remote: paths.remote });

Deno.test("a state is kept only for its conversation, in a file for the owner only", async () => {
  await using home = await makeTempHome();
  const remote = remoteOf(home);
  const one = { agent: "codex", id: "1" };
  assert.equal(await readRemote(remote, one), "off");
  await writeRemote(remote, one, "on");
  assert.equal(await readRemote(remote, one), "on");
  assert.equal(await readRemote(remote, { agent: "cc", id: "1" }), "off");
  const [name] = await home.files.list(remote.remote);
  assert.equal((await Deno.stat(`${remote.remote}/${name}`)).mode! & 0o777, 0o600);
  await writeRemote(remote, one, "untold");
  assert.equal(await readRemote(remote, one), "untold");
  await writeRemote(remote, one, "off");
  assert.deepEqual(await home.files.list(remote.remote), []);
});

Deno.test("an id that looks like a path names no other file", async () => {
  await using home = await makeTempHome();
  const remote = remoteOf(home);
  for (const id of ["../../escape", "a/b", "x".repeat(1_000), "", "ü"]) {
    await writeRemote(remote, { agent: "cc", id }, "on");
    assert.equal(await readRemote(remote, { agent: "cc", id }), "on");
  }
  assert.equal((await home.files.list(remote.remote)).length, 5);
});

Deno.test("the oldest conversations are removed when there are too many", async () => {
  await using home = await makeTempHome();
  const remote = remoteOf(home);
  await writeRemote(remote, { agent: "cc", id: "old" }, "on");
  await Deno.utime(`${remote.remote}/cc.old`, 1, 1);
  const others = Array.from(
    { length: CONVERSATIONS_MAX },
    (_, at) => writeRemote(remote, { agent: "cc", id: `${at}` }, "on"),
  );
  await Promise.all(others);
  await writeRemote(remote, { agent: "cc", id: "new" }, "on");
  assert.ok((await home.files.list(remote.remote)).length <= CONVERSATIONS_MAX + 1);
  assert.equal(await readRemote(remote, { agent: "cc", id: "old" }), "off");
  assert.equal(await readRemote(remote, { agent: "cc", id: "new" }), "on");
});
