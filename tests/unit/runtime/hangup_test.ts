/** Whether the process was started to outlive its terminal. */
import assert from "node:assert/strict";
import { keepingHangup } from "../../../src/runtime/hangup.ts";

const status = (ignored: string): string =>
  `Name:\tdeno\nSigBlk:\t0000000000000001\nSigIgn:\t${ignored}\nSigCgt:\t0000000000000001\n`;

/** Returns the signals that reach their handlers in a process with this status. */
function handledIn(text: string): string[] {
  const handled: string[] = [];
  const handlers: (() => void)[] = [];
  const onSignal = keepingHangup((_signal, handler) => {
    handlers.push(handler);
    return () => {};
  }, text);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) onSignal(signal, () => void handled.push(signal));
  for (const handler of handlers) handler();
  return handled;
}

Deno.test("a hang-up is handled, unless it was ignored when the program was started [rl-stop]", () => {
  for (const text of [status("0000000000001000"), "", "junk"]) {
    assert.deepEqual(handledIn(text), ["SIGTERM", "SIGHUP"]);
  }
  assert.deepEqual(handledIn(status("0000000000001001")), ["SIGTERM"]);
});
