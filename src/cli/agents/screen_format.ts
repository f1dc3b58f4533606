/** What tmux prints of a pane's screen for a profile: one line of facts, then the rows. */
import type { Screen } from "../../agents/profile.ts";

/** The title comes last: it may hold blanks. */
export const SCREEN_FORMAT =
  "#{cursor_x} #{cursor_y} #{cursor_flag} #{keypad_flag}#{keypad_cursor_flag} #{pane_title}";

export function parseScreen(output: string): Screen {
  const [facts = "", ...rows] = output.split("\n");
  const [x, y, visible, keypad, ...title] = facts.split(" ");
  return {
    lines: rows.map((row) => row.trimEnd()),
    title: title.join(" "),
    cursor: { x: Number(x), y: Number(y), visible: visible === "1" },
    ...(keypad === "00" ? {} : { applicationKeys: true }),
  };
}
