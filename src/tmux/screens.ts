/** The screens of several panes of one server by one tmux call. */
import { verbs } from "./argv.ts";
import { TmuxError, type TmuxServer } from "./server.ts";

/** Lines by pane id. A pane that ended meanwhile is left out, and so are those after it: the next poll has them. */
export async function captureScreens(
  server: TmuxServer,
  panes: readonly string[],
): Promise<Map<string, string[]>> {
  if (panes.length === 0) return new Map();
  const mark = `svc-screen-${crypto.randomUUID()}`;
  const commands = panes.flatMap((pane) => [verbs.captureScreen(pane), verbs.printPlain(mark)]);
  try {
    return splitScreens(await server.run(...commands), { panes, mark });
  } catch (error) {
    if (error instanceof TmuxError) return new Map();
    throw error;
  }
}

function splitScreens(
  output: string,
  { panes, mark }: { panes: readonly string[]; mark: string },
): Map<string, string[]> {
  const screens = `${output}\n`.split(`${mark}\n`).map((text) => text.replace(/\n$/, "").split("\n"));
  return new Map(panes.flatMap((pane, index) => screens[index] ? [[pane, screens[index]]] : []));
}
