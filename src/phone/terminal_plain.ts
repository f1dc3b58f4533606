/** A terminal's lines as plain text: to select from, to copy, to read aloud. */
import type { Emulator } from "./terminal_emulator.ts";

/** All lines, wrapped ones whole, without blanks at their ends. */
export function plainText({ buffer: { active } }: Pick<Emulator, "buffer">): string {
  let [text, line] = ["", ""];
  for (let y = 0; y < active.length; y++) {
    const isWrapped = active.getLine(y + 1)?.isWrapped === true;
    line += active.getLine(y)?.translateToString(!isWrapped) ?? "";
    if (isWrapped) continue;
    text += `${line.trimEnd()}\n`;
    line = "";
  }
  return text.trimEnd();
}
