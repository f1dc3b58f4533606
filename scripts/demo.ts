/** Runs the whole path with a scripted phone: relay, listener, session, POST, typed, submitted, read back. Exits 1 at the first broken step. */
import { makeStack, type Stack } from "../tests/helpers/stack.ts";
import { until } from "../tests/helpers/until.ts";
import { say } from "./say.ts";

/** The scripted phone's message: everything known to break on the way into a terminal. */
const MESSAGE =
  `Hello; from the phone -- "quoted" 'and' $(not run) #{pane_id}\n\ttabs, é e\u0301, 日本語, 👨‍👩‍👧\\`;

/** Runs one step and prints its name and how long it took, in milliseconds. */
async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  try {
    const result = await work();
    say(`✓ ${name.padEnd(58)} ${(performance.now() - begun).toFixed(0).padStart(5)} ms`);
    return result;
  } catch (error) {
    say(`✗ ${name}: ${error instanceof Error ? error.message : error}`);
    throw error;
  }
}

async function walk(stack: Stack): Promise<void> {
  await step("listener connects to the relay", () => stack.startListener());
  const echo = await step("svc --detach echo starts an agent in tmux", () => stack.echo());
  await step("the phone sees the session", () =>
    until("the session in the picker", async () => {
      const { devices } = await stack.api.sessions();
      return devices.some((device) => device.sessions.some((session) => session.name === echo.name));
    }));
  const push = { type: "agent.command", agentSessionName: echo.name, body: MESSAGE };
  const { id } = await step("POST /pushes/send is accepted, durably", () => stack.api.sendPush(push));
  const state = (name: "typed" | "submitted") => async (): Promise<void> => {
    await until(`the receipt "${name}"`, async () => {
      const { receipt } = await stack.api.getPush(id);
      if (receipt.final && receipt.state !== "submitted") throw new Error(`the message was ${receipt.state}`);
      return receipt.at[name];
    });
  };
  await step("the receipt says typed", state("typed"));
  await step("the receipt says submitted", state("submitted"));
  await step("the agent was given it, byte for byte, once", async () => {
    const prompts = await echo.prompts(1);
    if (prompts.length !== 1 || prompts[0] !== MESSAGE) {
      throw new Error(`it was given ${JSON.stringify(prompts)}`);
    }
  });
}

async function main(): Promise<number> {
  const begun = performance.now();
  let stack: Stack | undefined;
  try {
    stack = await step("relay on SQLite listens, key created", () => makeStack({ listener: false }));
    await walk(stack);
    say(`\nAll of it worked in ${((performance.now() - begun) / 1_000).toFixed(1)} s.`);
    return 0;
  } catch {
    say("\nThe demo is broken at the step above.");
    return 1;
  } finally {
    const used = stack;
    if (used) await step("everything it started is gone", () => cleanUp(used));
  }
}

async function cleanUp(stack: Stack): Promise<void> {
  await stack[Symbol.asyncDispose]();
  const left = await Deno.stat(stack.sandbox.root).then(() => true, () => false);
  if (left) throw new Error(`"${stack.sandbox.root}" is still there`);
}

Deno.exit(await main());
