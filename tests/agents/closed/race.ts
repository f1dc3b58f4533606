/** The race between a message and the permission dialog that a tool call opens, and how much svc's hooks slow a tool call. */
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { until } from "../../helpers/until.ts";
import type { RealAgent } from "../install.ts";
import { AgentStage, exists, moment } from "./agent_stage.ts";

/** The message is posted within these bounds around the moment at which the tool call reaches the agent. */
const FIRST_OFFSET_MS = -150;
const LAST_OFFSET_MS = 450;
/** Time between the last key of the person's prompt and the tool call. */
const BEFORE_CALL_MS = 400;
/** How long the local user leaves the dialog open, since delayed keys of svc would still reach it. */
const DIALOG_OPEN_MS = 2_500;
const DIALOG_LIMIT_MS = 30_000;
const ARRIVAL_LIMIT_MS = 10_000;
/** Tries in one session of the agent: a longer conversation makes each request larger. */
const TRIES_A_SESSION = 25;

/** How many sessions may be restarted because the local user's prompt did not reach the model. */
const UNBEGUN_MAX = 5;

export interface Try {
  /** The measured time from the tool call's arrival at the agent to the POST. */
  offsetMs: number;
  /** Whether the tool ran, which means that the message approved it. */
  approved: boolean;
  /** How often the message reached the model. */
  arrived: number;
  /** Whether it came only with the person's next prompt: the agent kept it when the dialog was rejected. */
  late: boolean;
  /**
   * How the person answered the dialog. At `reject` some agents end the turn and put queued messages back into the
   * input line; at `allow` everything that they accepted reaches the model.
   */
  answer: "reject" | "allow";
  /** Whether the message was in the input line at the end. */
  left: boolean;
  receipt: Receipt;
  /** From POST to `submitted`, in milliseconds. */
  delayMs: number | undefined;
}

export interface RaceOptions {
  hooks: boolean;
  tries: number;
  /** Called after each try, to print progress. */
  onTry?: (one: Try, index: number) => void;
}

export async function race(kind: RealAgent, { hooks, tries, onTry }: RaceOptions): Promise<Try[]> {
  const done: Try[] = [];
  let unbegun = 0;
  while (done.length < tries) {
    await using stage = await AgentStage.open(kind, { hooks, env: { COLORTERM: "truecolor" } });
    const end = Math.min(tries, done.length + TRIES_A_SESSION);
    let isUsable = true;
    while (done.length < end && isUsable) {
      const offsetMs = offsetOf(done.length, tries);
      const one = await tryOnce(stage, { offsetMs, index: done.length });
      if (one === undefined) {
        if (++unbegun > UNBEGUN_MAX) {
          throw new Error(`the agent took no prompt ${unbegun} times: ${await stage.text()}`);
        }
        break;
      }
      done.push(one);
      onTry?.(one, done.length);
      isUsable = await stage.untilIdle(ARRIVAL_LIMIT_MS).then(() => true, () => false);
    }
  }
  return done;
}

/** Spreads the offsets evenly, in an order in which consecutive ones are far apart. */
function offsetOf(index: number, tries: number): number {
  const place = (index * 7) % tries === 0 && index > 0 && tries % 7 === 0 ? index : (index * 7) % tries;
  return Math.round(FIRST_OFFSET_MS + (LAST_OFFSET_MS - FIRST_OFFSET_MS) * place / Math.max(1, tries - 1));
}

/** Returns undefined when the person's own prompt did not reach the model. */
async function tryOnce(
  stage: AgentStage,
  { offsetMs, index }: { offsetMs: number; index: number },
): Promise<Try | undefined> {
  const { standIn, project } = stage;
  const token = `please-stop-${index}-${crypto.randomUUID().slice(0, 6)}`;
  const canary = `${project}/canary-${index}`;
  standIn.forget();
  const release = standIn.hold();
  standIn.callShell(`touch canary-${index}`);
  if (!await stage.startTurn(`begin ${index}`).then(() => true, () => false)) return undefined;

  const callAt = performance.now() + BEFORE_CALL_MS;
  let postedAt = 0;
  let measuredAt = 0;
  const post = async (): Promise<string> => {
    await moment(callAt + offsetMs);
    postedAt = Date.now();
    measuredAt = performance.now();
    return await stage.post(token);
  };
  const call = async (): Promise<void> => {
    await moment(callAt);
    release();
  };
  const [id] = await Promise.all([post(), call()]);
  await until(
    "the dialog, or the tool's end",
    async () => await stage.asksPermission() || await exists(canary) || standIn.exchanges().length > 1,
    DIALOG_LIMIT_MS,
  )
    .catch(() => {});
  await moment(performance.now() + DIALOG_OPEN_MS);
  const approved = await exists(canary);
  const answer = index % 2 === 0 ? "reject" : "allow";
  if (answer === "reject") await stage.reject();
  else await stage.allow();
  const receipt = await stage.finalReceipt(id);
  await arrival(stage, { token, receipt });
  const { draft = "" } = await stage.reading();
  const left = draft.includes(token);
  if (draft !== "") await clearDraft(stage);
  const late = stage.timesAtModel(token) === 0 && !isNever(receipt) && !left;
  if (late) await stage.startTurn(`go on ${index}`);
  const called = standIn.exchanges().find(({ answer }) => answer === "tools")?.answeredAt;
  const one: Try = {
    offsetMs: Math.round(measuredAt - (called ?? NaN)),
    approved,
    answer,
    arrived: stage.timesAtModel(token),
    late: late && stage.timesAtModel(token) > 0,
    left,
    receipt,
    delayMs: receipt.at.submitted && receipt.at.submitted - postedAt,
  };
  return one;
}

/** True if the receipt says that the message was never typed. */
function isNever({ state }: Receipt): boolean {
  return state === "refused" || state === "expired";
}

/** Resolves when the message is at the model or, if it was never typed, the agent is idle; at a limit in any case. */
async function arrival(
  stage: AgentStage,
  { token, receipt }: { token: string; receipt: Receipt },
): Promise<void> {
  const never = isNever(receipt);
  const isOver = async (): Promise<boolean> => never ? await stage.isIdle() : stage.timesAtModel(token) > 0;
  await until("the message at the model", isOver, ARRIVAL_LIMIT_MS).catch(() => {});
  await stage.settle();
}

/** Empties the input line, as the person at the computer. */
async function clearDraft(stage: AgentStage): Promise<void> {
  const ways = [["C-e", "C-u"], ["C-c"]];
  let tried = 0;
  await until("an empty input line", async () => {
    if (!(await stage.reading()).draft) return true;
    await stage.pane.press(...ways[tried++ % ways.length] ?? []);
    await stage.settle();
    return false;
  }, ARRIVAL_LIMIT_MS).catch(() => {});
}

/** A tool that each agent runs without asking, with its input. */
const FREE_TOOLS: Readonly<
  Record<RealAgent, { name: string; input: (file: string) => Record<string, unknown> }>
> = {
  cc: { name: "Read", input: (file) => ({ file_path: file }) },
  codex: { name: "exec_command", input: () => ({ cmd: "true" }) },
  gemini: { name: "read_file", input: (file) => ({ file_path: file }) },
  opencode: { name: "read", input: (file) => ({ filePath: file }) },
  copilot: { name: "view", input: (file) => ({ path: file }) },
};

/** Measures the milliseconds from each of `calls` tool calls to the request with its result. */
export async function toolTimes(stage: AgentStage, calls: number): Promise<number[]> {
  const { standIn, project, kind } = stage;
  // Uses different files, because agents stop a model that repeats the same request.
  const files = Array.from({ length: calls }, () => `${project}/read-me-${crypto.randomUUID()}.txt`);
  for (const file of files) await Deno.writeTextFile(file, "one line\n");
  const { name, input } = FREE_TOOLS[kind];
  standIn.forget();
  standIn.reply = () => {
    const file = files.pop();
    return file === undefined ? undefined : { kind: "tool", name, input: input(file) };
  };
  await stage.startTurn("read the file");
  await until("the last tool result", () => standIn.exchanges().length > calls, DIALOG_LIMIT_MS * 4);
  standIn.reply = () => undefined;
  await stage.untilIdle();
  const exchanges = standIn.exchanges();
  return exchanges.slice(1).flatMap(({ askedAt, afterTool }, at) =>
    afterTool ? [askedAt - (exchanges[at]?.answeredAt ?? 0)] : []
  );
}
