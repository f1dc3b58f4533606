/**
 * Captures the classes of screens in which text must or must not be typed, at three sizes:
 * `deno run -A tests/agents/capture_classes.ts KIND [WIDTHxHEIGHT] [CLASS…]`.
 */
import type { Screen, ScreenReading } from "../../src/agents/profile.ts";
import { agentProfile } from "../../src/agents/profiles.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { capture, drawnScreen } from "./capture.ts";
import { CLASSES, type ScreenClass, type Step } from "./classes.ts";
import { REAL_AGENTS, type RealAgent } from "./install.ts";
import { type RunningAgent, startAgent } from "./start_agent.ts";

interface Size {
  columns: number;
  rows: number;
}

const SIZES: readonly Size[] = [{ columns: 80, rows: 24 }, { columns: 42, rows: 14 }, {
  columns: 200,
  rows: 50,
}];

async function take(agent: RunningAgent, step: Step): Promise<void> {
  const { pane, standIn } = agent;
  switch (step.kind) {
    case "press":
      await pane.press(...step.keys);
      break;
    case "type":
      await pane.type(step.text);
      break;
    case "paste":
      await pane.paste(step.text);
      break;
    case "answered":
      await leave(agent);
      break;
    case "shell":
      standIn.callShell(step.command);
      return;
  }
  await drawnScreen(pane);
}

/** True if a menu takes the text `q` but not others: a pager, which `q` leaves. */
function isPagerText(text: RegExp | undefined): boolean {
  return text !== undefined && text.test("q") && !text.test("a");
}

function waysBack(
  { focus, cut, isPager }: Pick<ScreenReading, "focus" | "cut"> & { isPager: boolean },
): string[] {
  if (focus === "composer") return ["C-e", "C-u", "BSpace"];
  if (cut) return ["C-c"];
  return [isPager ? "q" : "Escape"];
}

/** Returns to the empty composer, however deep the previous class went. */
async function leave({ kind, pane }: RunningAgent): Promise<void> {
  const { readScreen, menus } = agentProfile(kind);
  let shown: Screen | undefined;
  try {
    await until(`the empty composer of "${kind}"`, async () => {
      shown = await drawnScreen(pane);
      const { state, focus, draft, menu = "", cut } = readScreen(shown);
      if (state === "idle" && draft === "") return true;
      if (state === "working") return false;
      await pane.press(...waysBack({ focus, cut, isPager: isPagerText(menus[menu]?.text) }));
      return false;
    });
  } catch (error) {
    throw new Error(`still at this screen:\n${JSON.stringify(shown, null, 1)}`, { cause: error });
  }
}

async function captureIn(agent: RunningAgent, size: Size, each: ScreenClass): Promise<void> {
  await leave(agent);
  for (const step of each.steps) await take(agent, step);
  await capture(agent, `${each.name}_${size.columns}x${size.rows}`, each.expect);
}

async function captureGroup(kind: RealAgent, size: Size, group: readonly ScreenClass[]): Promise<void> {
  await using sandbox = await makeSandbox();
  await using agent = await startAgent(kind, sandbox, { ...size, color: "full", ...group[0]?.start });
  for (const each of group) await captureIn(agent, size, each);
}

function isWanted(
  { name, wide, only }: ScreenClass,
  { columns, rows }: Size,
  args: readonly string[],
): boolean {
  const size = `${columns}x${rows}`;
  const names = args.filter((arg) => !/^\d/.test(arg));
  if (args.length > names.length && !args.includes(size)) return false;
  if (only !== undefined && only !== size) return false;
  return names.length === 0 ? columns < 100 || wide === true : names.includes(name);
}

const [kind = "", ...args] = Deno.args;
if (!Object.hasOwn(REAL_AGENTS, kind)) {
  throw new TypeError(`cannot capture "${kind}": give one of ${Object.keys(REAL_AGENTS).join(", ")}`);
}
for (const size of SIZES) {
  const classes = CLASSES[kind as RealAgent].filter((each) => isWanted(each, size, args));
  const shared = Map.groupBy(classes.filter((each) => !each.isLast), (each) => each.start);
  const groups = [...shared.values(), ...classes.filter((each) => each.isLast).map((each) => [each])];
  for (const group of groups) await captureGroup(kind as RealAgent, size, group);
}
