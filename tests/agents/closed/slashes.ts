/** An agent's slash commands, read from its own menu. */
import { until } from "../../helpers/until.ts";
import { type AgentStage, moment } from "./agent_stage.ts";

/** Longer than any agent's menu. */
const ROWS_MAX = 200;
/** After this many arrows without a new row the menu has started again from the top. */
const NOTHING_NEW = 25;
/** Time for the agent to draw the next row. */
const DRAW_MS = 40;
/** A new agent may load its commands late. */
const MENU_LIMIT_MS = 3_000;
const MENU_TRIES = 5;

/** A row of the menu; one agent omits the slash. */
const NAME = /^[\s│┃█❯›●▌>]*\/([a-z][\w:-]*)(?:\s|$)|^ ([a-z][\w:-]*) {2,}[A-Z]/u;

/**
 * Returns the names with their slash, in the menu's order. Opens the menu and leaves it, as the person at the computer.
 */
export async function readSlashes(stage: AgentStage): Promise<string[]> {
  const found = new Set<string>();
  const look = async (): Promise<boolean> => {
    const before = found.size;
    for (const line of (await stage.screen()).lines) {
      const [, slashed, bare] = NAME.exec(line) ?? [];
      const name = slashed ?? bare;
      if (name !== undefined) found.add(`/${name}`);
    }
    return found.size > before;
  };
  for (let tried = 0; tried < MENU_TRIES && found.size < 2; tried++) {
    await stage.pane.press("BSpace", "/");
    await until("the menu", async () => await look() && found.size > 1, MENU_LIMIT_MS).catch(() => {});
  }
  for (let row = 0, old = 0; row < ROWS_MAX && old < NOTHING_NEW; row++) {
    await stage.pane.press("Down");
    await moment(performance.now() + DRAW_MS);
    old = await look() ? 0 : old + 1;
  }
  await stage.calmDown();
  return [...found];
}
