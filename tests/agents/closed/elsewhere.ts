/** Screens of real agents in which a message would be lost, or would become an answer or a command. */
import { until } from "../../helpers/until.ts";
import { treeOf } from "../end_tree.ts";
import type { RealAgent } from "../install.ts";
import { type AgentStage, pressApart } from "./agent_stage.ts";
import type { Size } from "./form.ts";

/** A screen other than the agent's input line, which the person at the computer opens and leaves. */
export interface Elsewhere {
  what: string;
  kinds: readonly RealAgent[];
  size?: Size;
  open(stage: AgentStage): Promise<unknown>;
  shows: RegExp;
  leave(stage: AgentStage): Promise<unknown>;
  reasons: readonly string[];
}

const press = (...keys: string[]) => (stage: AgentStage): Promise<void> => stage.pane.press(...keys);

/** The rows below the text of vi. */
const EDITOR = /^~$/m;

/** Opens the editor. Gemini goes on reading and drawing meanwhile, so there the editor only draws. */
async function openEditor(stage: AgentStage): Promise<void> {
  if (stage.kind === "gemini") await Deno.writeTextFile(`${stage.root}/simple-editor`, "");
  await pressUntil(stage, { keys: ["C-g"], shows: EDITOR });
}

async function leaveEditor(stage: AgentStage): Promise<void> {
  if (stage.kind !== "gemini") return await pressApart(stage, "Escape", ":", "q", "!", "Enter");
  await Deno.writeTextFile(`${stage.root}/editor-leave`, "");
}

/** Presses a key until the screen shows its effect: just after its start an agent may ignore one. */
async function pressUntil(
  stage: AgentStage,
  { keys, shows }: { keys: string[]; shows: RegExp },
): Promise<void> {
  await until(`${shows} on the screen`, async () => {
    await stage.pane.press(...keys);
    await stage.settle();
    return shows.test(await stage.text());
  });
}

/** Accepted reasons for a screen that the profile does not list: svc may also take it for a dialog. */
const UNKNOWN = ["unknown_screen", "dialog_open"];

/** Continues a suspended agent, which has no shell to do so. */
async function resume(stage: AgentStage): Promise<void> {
  const { pid } = stage.pane;
  await until("the input line again", async () => {
    for (const one of await treeOf(pid)) Deno.kill(one, "SIGCONT");
    await stage.settle();
    return (await stage.reading()).focus === "composer";
  });
}

export const ELSEWHERE: readonly Elsewhere[] = [
  {
    what: "the /diff pager",
    kinds: ["codex"],
    open: (stage) => stage.typeLine("/diff"),
    shows: /to scroll|pgup|q close/,
    leave: press("q"),
    reasons: UNKNOWN,
  },
  ...[{ cols: 80, rows: 24 }, { cols: 42, rows: 14 }].map((size): Elsewhere => ({
    what: `/status at ${size.cols}x${size.rows}`,
    kinds: ["cc"],
    size,
    open: (stage) => stage.typeLine("/status"),
    shows: /Version|Session|Settings|Status/,
    leave: press("Escape"),
    reasons: UNKNOWN,
  })),
  {
    what: "$EDITOR",
    kinds: ["cc", "codex", "gemini"],
    open: openEditor,
    shows: EDITOR,
    leave: leaveEditor,
    reasons: ["unknown_screen"],
  },
  {
    what: "the screen after Ctrl-Z",
    kinds: ["cc", "copilot"],
    open: press("C-z"),
    shows: /suspended/,
    leave: resume,
    reasons: ["unknown_screen", "pane_dead"],
  },
  {
    what: "the agents view that Left opens",
    kinds: ["cc"],
    open: press("Left"),
    shows: /describe a task for a new session/,
    leave: press("Escape"),
    reasons: UNKNOWN,
  },
];
