/** An agent's slash commands, read from its own menu. */
import type { AgentStage } from "./agent_stage.ts";

/** Longer than any agent's menu. */
const ROWS_MAX = 160;
/** So many arrows in a row that show nothing new: the menu has begun again. */
const NOTHING_NEW = 12;

/** The names with their slash, in the menu's order. The person at the computer opens the menu and leaves it again. */
export async function readSlashes(stage: AgentStage): Promise<string[]> {
  const found = new Set<string>();
  const look = async (): Promise<boolean> => {
    const before = found.size;
    for (const line of (await stage.screen()).lines) {
      const name = /^[\s│┃❯›●▌>]*(\/[a-z][\w:-]*)(?:\s|$)/u.exec(line)?.[1];
      if (name !== undefined) found.add(name);
    }
    return found.size > before;
  };
  await stage.pane.press("/");
  await stage.settle();
  await look();
  for (let row = 0, old = 0; row < ROWS_MAX && old < NOTHING_NEW; row++) {
    await stage.pane.press("Down");
    old = await look() ? 0 : old + 1;
  }
  await stage.pane.press("Escape");
  await stage.settle();
  await stage.pane.press("BSpace", "C-u");
  await stage.untilIdle();
  return [...found];
}
