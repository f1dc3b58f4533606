/** The text of a terminal as a person copies it. */
import assert from "node:assert/strict";
import { makeEmulator } from "../../../src/phone/terminal_emulator.ts";
import { plainText } from "../../../src/phone/terminal_plain.ts";

Deno.test("terminal text: with what is above the screen, wrapped lines whole, no blanks at their ends [ux-mirror-touch]", async () => {
  const terminal = makeEmulator({ cols: 10, rows: 3 });
  const output = "first   \r\n0123456789abc\r\n\r\n漢字\u001b[31m red\r\n\r\n";
  await new Promise<void>((done) => terminal.write(output, done));
  assert.equal(plainText(terminal), "first\n0123456789abc\n\n漢字 red");
  terminal.dispose();
});
