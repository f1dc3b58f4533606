/** Saves a pane's screen as a fixture, with what a profile must read from it. */
import { fileURLToPath } from "node:url";
import type { Screen, ScreenReading } from "../../src/agents/profile.ts";
import type { Pane } from "../helpers/agents_pane.ts";
import { until } from "../helpers/until.ts";

const FOLDER = fileURLToPath(new URL("../testdata/screens/", import.meta.url));
/** How long a screen must stay unchanged to count as drawn, and how long it may keep changing. */
const QUIET_MS = 1_200;
const RESTLESS_MS = 4_000;

/** Uses `null` where the reading has `undefined`, which JSON lacks. */
export type Expected = { [K in keyof ScreenReading]: Exclude<ScreenReading[K], undefined> | null };

export interface Subject {
  kind: string;
  version: string;
  pane: Pane;
}

export async function drawnScreen(pane: Pane): Promise<Screen> {
  const start = Date.now();
  let last = { screen: await pane.screen(), since: start };
  return await until("a drawn screen", async () => {
    const screen = await pane.screen();
    if (JSON.stringify(screen) !== JSON.stringify(last.screen)) last = { screen, since: Date.now() };
    const isDrawn = Date.now() > last.since + QUIET_MS || Date.now() > start + RESTLESS_MS;
    return isDrawn ? screen : undefined;
  });
}

/** Writes `<kind>/<name>/screen.txt` and `meta.json`. */
export async function capture(subject: Subject, name: string, expect: Expected): Promise<void> {
  const { kind, version, pane } = subject;
  const { lines, ...shown } = await drawnScreen(pane);
  const folder = `${FOLDER}${kind}/${name}`;
  const meta = JSON.stringify({ version, ...shown, expect }, null, 2);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/screen.txt`, `${lines.join("\n")}\n`);
  await Deno.writeTextFile(`${folder}/meta.json`, `${meta}\n`);
}

export function idle(draft: string): Expected {
  return { state: "idle", focus: "composer", draft };
}

export function working(draft: string): Expected {
  return { state: "working", focus: "composer", draft };
}

export function menu(name: string, state: "waiting" | null = "waiting"): Expected {
  return { state, focus: "menu", draft: null, menu: name };
}

export const UNKNOWN: Expected = { state: null, focus: "unknown", draft: null };

export const OPEN_DIALOG: Expected = { state: "waiting", focus: "dialog", draft: null };
