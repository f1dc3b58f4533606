/** Steps that the table's rows share: typing a phone's keys and reading the state of each, and messages that wait or go in. */
import assert from "node:assert/strict";
import type { KeyInput } from "../../../src/protocol/key_input.ts";
import type { KeyState } from "../../../src/protocol/pane_frame.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { until } from "../../helpers/until.ts";
import { type AgentStage, exists, moment } from "./agent_stage.ts";
import type { AttackPhone } from "./attack_phone.ts";

export const text = (text: string): KeyInput => ({ type: "text", text });
export const key = (key: string): KeyInput => ({ type: "key", key });
export const paste = (text: string): KeyInput => ({ type: "paste", text });

/** With and without the variable by which agents choose colors and, depending on these, some frames. */
export const COLORS: readonly { name: string; env: Record<string, string> }[] = [
  { name: "with COLORTERM", env: { COLORTERM: "truecolor" } },
  { name: "without COLORTERM", env: {} },
];

/** A safety limit for a busy machine. */
const ARRIVAL_LIMIT_MS = 300_000;
/** Longer than svc holds keys. */
const KEYS_LIMIT_MS = 20_000;
/** After this time an agent no longer counts as starting. */
const OLD_MS = 62_000;

/** Types the inputs in one burst; resolves with their states once the last one has one. */
export async function burst(phone: AttackPhone, ...inputs: KeyInput[]): Promise<(KeyState | undefined)[]> {
  const before = phone.keyStates().length;
  const first = phone.typed;
  phone.type(...inputs);
  const last = first + inputs.length - 1;
  const states = (): KeyState[] => phone.keyStates().slice(before);
  const isDone = (): boolean => states().some(({ sequence, state }) => sequence >= last && state !== "held");
  await until(`the state of key ${last}`, isDone, KEYS_LIMIT_MS).catch(() => {});
  return inputs.map((_, at) => states().findLast(({ sequence }) => sequence === first + at));
}

/** Returns the reasons of the inputs that were refused or held. */
export function reasonsOf(states: readonly (KeyState | undefined)[]): string[] {
  return states.flatMap((one) => one === undefined || one.state === "typed" ? [] : one.reason ?? "");
}

/** Returns the canary's shell command, and a check that it never ran. */
export function canaryOf({ root }: AgentStage): { command: string; isAlive(): Promise<boolean> } {
  const path = `${root}/X`;
  return { command: `touch ${path}`, isAlive: async () => !await exists(path) };
}

/** Prepares a row: an empty input line and no canary file, with a new agent if no key leads back. */
export async function startOver(stage: AgentStage): Promise<AttackPhone> {
  if (!await stage.calmDown()) await stage.restart();
  for (const name of ["X", "editor-ran"]) await Deno.remove(`${stage.root}/${name}`).catch(() => {});
  return await stage.phone();
}

export async function assertNoEditor({ root }: AgentStage): Promise<void> {
  assert.ok(!await exists(`${root}/editor-ran`), "$EDITOR was started");
}

/** Asserts that a tool that needs permission still opens the agent's dialog. */
export async function assertAsks(stage: AgentStage): Promise<void> {
  const canary = `probe-${crypto.randomUUID().slice(0, 8)}`;
  assert.ok(await stage.calmDown(), `no empty input line:\n${await stage.text()}`);
  stage.standIn.callShell(`touch ${canary}`);
  await stage.startTurn("probe the approvals");
  const isShown = async (): Promise<boolean> =>
    await stage.asksPermission() || await exists(`${stage.project}/${canary}`);
  await until("the dialog", isShown);
  assert.ok(!await exists(`${stage.project}/${canary}`), "a tool ran unasked: the approval mode was changed");
  await stage.reject();
  await stage.calmDown();
}

/** Waits until the session no longer counts as starting. */
export function untilOld(stage: AgentStage): Promise<unknown> {
  return moment(stage.startedAt + OLD_MS);
}

/** Asserts that the message waits or is refused for one of these reasons; resolves with the id of one that waits. */
export async function assertKeptOut(
  stage: AgentStage,
  { body, reasons }: { body: string; reasons: readonly string[] },
): Promise<string | undefined> {
  const id = await stage.post(body);
  const receipt = await stage.firstReceipt(id);
  const { state, reason = "" } = receipt;
  assert.ok(state === "held" || state === "refused", `${describe(receipt)}\n${await stage.text()}`);
  assert.ok(reasons.includes(reason), describe(receipt));
  return state === "held" ? id : undefined;
}

/** Asserts that the message is typed and reaches the model once. */
export async function assertGoesIn(stage: AgentStage, id: string, body: string): Promise<void> {
  const receipt = await stage.finalReceipt(id).catch(async ({ message }) => {
    throw new Error(
      `${message}; now ${describe(await stage.receipt(id))}; the screen:\n${await stage.text()}`,
    );
  });
  assert.equal(receipt.state, "submitted", `${describe(receipt)}\n${await stage.text()}`);
  await until(`"${body.slice(0, 40)}" at the model`, () => stage.timesAtModel(body) > 0, ARRIVAL_LIMIT_MS);
  assert.equal(stage.timesAtModel(body), 1);
}

export async function assertSubmitted(stage: AgentStage, body: string): Promise<void> {
  await assertGoesIn(stage, await stage.post(body), body);
}

export function describe({ state, reason = "" }: Receipt): string {
  return `${state} ${reason}`.trim();
}
