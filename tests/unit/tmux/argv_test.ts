/** tmux's command lines carry every text as data. */
import assert from "node:assert/strict";
import { commandLine, exactPane, quoteWord, spawnArgv, verbs } from "../../../src/tmux/argv.ts";

Deno.test("argv: all bytes except plain ones become octal escapes, so that no argument is syntax [err-literal, sec-body-literal]", () => {
  assert.equal(quoteWord("%12"), "%12");
  assert.equal(quoteWord("a b"), '"a b"');
  assert.equal(quoteWord("~;#{x}$'\"\\\n"), '"\\176\\073\\043\\173x\\175\\044\\047\\042\\134\\012"');
  assert.equal(quoteWord("é"), '"\\303\\251"');
  assert.equal(quoteWord(""), '""');
});

Deno.test("argv: a control client's commands are one line, whatever their arguments contain", () => {
  const line = commandLine([["send-keys", "-l", "a\nb"], ["kill-session", "-t", "=x"]]);
  assert.equal(line, 'send-keys -l "a\\012b" ; kill-session -t =x');
});

Deno.test("argv: a trailing ; in an argument is escaped for a spawn, where it would end the command [inj-semicolon]", () => {
  const argv = spawnArgv("/s", [["send-keys", "-l", "--", "hello;"], ["display-message", ";"]]);
  assert.deepEqual(argv, [
    ...["tmux", "-u", "-S", "/s"],
    ...["send-keys", "-l", "--", "hello\\;", ";", "display-message", "\\;"],
  ]);
});

Deno.test("argv: a tmux that would change pasted text is told not to, in the same queue as the guard [inj-guard-atomic, sec-body-literal]", () => {
  const paste = "-r -d -b svc-b -t %1";
  for (const marks of [true, false]) {
    const [verb, ...words] = verbs.pasteBuffer("svc-b", "%1", { marks });
    const form = `paste-buffer ${marks ? "-p " : ""}${paste}`;
    assert.equal(verb, "if-shell");
    assert.deepEqual(words, [
      ...["-F", "-t", "%1", "#{!=:#{bracket_paste_flag},}"],
      ...[`${form} -S`, form],
    ]);
  }
});

Deno.test("argv: sessions are named exactly [wr-exact, sec-name-prefix]", () => {
  assert.equal(exactPane("svc-a"), "=svc-a:");
  assert.deepEqual(verbs.killSession("svc-a"), ["kill-session", "-t", "=svc-a"]);
});

Deno.test("argv: an agent's session runs its argv without a shell [wr-own-process]", () => {
  const command = verbs.newSession({
    name: "svc-a",
    directory: "/p",
    env: { A: "1" },
    argv: ["claude", "-x"],
  });
  assert.deepEqual(command, [
    "new-session",
    "-d",
    "-s",
    "svc-a",
    "-c",
    "/p",
    "-e",
    "A=1",
    "--",
    "claude",
    "-x",
  ]);
});
