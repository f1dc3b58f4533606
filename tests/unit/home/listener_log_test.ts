/** The lines of listener.log. */
import assert from "node:assert/strict";
import { failedStartReason, openLog, stampLine, startLine } from "../../../src/home/log_files.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);
const TIME = "2026-11-20T12:00:00.000Z";

Deno.test("the first line is the specified one, word for word [log-start, ver-written]", () => {
  assert.equal(
    stampLine(startLine("1.2.3", "wss://host/stage"), NOW),
    `[${TIME}] svc listener starting — v1.2.3 — wss://host/stage`,
  );
});

Deno.test("a failure line has no time [log-rejected]", () => {
  const line = "! server rejected listener.sessions: missing scope";
  assert.equal(stampLine(line, NOW), line);
});

Deno.test("a line feed in a logged text does not start a second line", () => {
  assert.equal(stampLine("one\r\n[x] two\nthree", NOW), `[${TIME}] one [x] two three`);
});

Deno.test("a relay's text cannot control the terminal of someone who reads the log [log-rejected]", () => {
  const line = "! server rejected listener.sessions: \x1b]0;title\x07\x1b[2J\x9b31m";
  assert.equal(
    stampLine(line, NOW),
    "! server rejected listener.sessions: \ufffd]0;title\ufffd\ufffd[2J\ufffd31m",
  );
});

Deno.test("lines go to the file and to the foreground", async () => {
  await using home = await makeTempHome();
  const seen: string[] = [];
  const echo = (line: string): void => void seen.push(line);
  const log = openLog(home.files, { path: home.paths.log, now: () => NOW, echo });
  log.line("one");
  log.line("two");
  await log.close();
  assert.equal(await Deno.readTextFile(home.paths.log), `[${TIME}] one\n[${TIME}] two\n`);
  assert.deepEqual(seen, [`[${TIME}] one`, `[${TIME}] two`]);
});

Deno.test("without a terminal or reader for the echo, each line still reaches the file", async () => {
  await using home = await makeTempHome();
  let echoed = 0;
  const echo = (): void => {
    echoed++;
    throw new Error("EPIPE: broken pipe, write");
  };
  const log = openLog(home.files, { path: home.paths.log, now: () => NOW, echo });
  log.line("one");
  log.line("two");
  await log.close();
  assert.equal(await Deno.readTextFile(home.paths.log), `[${TIME}] one\n[${TIME}] two\n`);
  assert.equal(echoed, 1);
});

Deno.test("the reason why a listener did not start is its own, else the error that ended it, without colors", () => {
  const started = `[${TIME}] svc listener starting — v1.2.3 — ws://host/ws`;
  const own = `${started}\n[${TIME}] Cannot run the listener: the disk is full\n[${TIME}] something else\n`;
  assert.equal(failedStartReason(own), "the disk is full");
  assert.equal(failedStartReason('svc: Cannot use "x": no\n'), 'Cannot use "x": no');
  const deno =
    "\x1b[0m\x1b[1m\x1b[31merror\x1b[0m: Uncaught Error: broken\n    at \x1b[0m\x1b[36mfile:///a.ts\x1b[0m\n";
  assert.equal(failedStartReason(deno), "error: Uncaught Error: broken");
  const node =
    "file:///cli.js:3\n  x y\n    ^\n\nTypeError [ERR_X]: no such thing\n    at run (node:1)\n\nNode.js v22.1.0\n";
  assert.equal(failedStartReason(node), "TypeError [ERR_X]: no such thing");
  assert.equal(failedStartReason(`${started}\n`), started);
  assert.equal(failedStartReason("\n"), undefined);
});
