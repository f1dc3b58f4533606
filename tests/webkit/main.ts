/** `deno task test:webkit`: the core of the phone's page in WebKit, with a real relay, listener, tmux and agent; prints a line for each step. */
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { buildPhone } from "../../scripts/build_phone.ts";
import { say } from "../../scripts/say.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { missingPackages, WebKit } from "./browser.ts";

interface Stage {
  browser: WebKit;
  stack: Stack;
  session: EchoSession;
  /** The page's address on localhost, since without https a page has cryptography only there. */
  origin: string;
}

const FIELD = { css: ".composer textarea" };
const LINE = { css: ".terminal[data-stream=live] .terminal-line" };

async function send({ browser }: Stage, text: string): Promise<void> {
  await browser.type(FIELD, text);
  await browser.click({ css: "button", text: "Send" });
}

/** Resolves once the message with this text is shown as submitted. */
async function submitted({ browser }: Stage, text: string): Promise<void> {
  const script = `
    const [text] = arguments;
    return [...document.querySelectorAll(".messages li")].some(({ textContent }) =>
      textContent.includes(text) && textContent.includes("Submitted"));
  `;
  await until(`"${text}" to be submitted`, () => browser.run(script, text));
}

async function typedOnce({ session }: Stage, text: string): Promise<void> {
  const prompts = await session.prompts(1);
  assert.equal(prompts.filter((one) => one === text).length, 1, `"${text}" in ${JSON.stringify(prompts)}`);
}

/** Returns how many messages the relay has. */
async function commands({ api }: Stack): Promise<number> {
  const { pushes } = await api.listPushes();
  return pushes.filter(({ push }) => push.type === "agent.command").length;
}

async function pair({ browser, stack, origin }: Stage): Promise<string> {
  const { hash } = new URL(await stack.pairLink());
  await browser.goto(`${origin}/${hash}`);
  await browser.find({ css: "h1", text: "Compare with" });
  await browser.click({ css: "button", text: "They match" });
  const { isSecure, keys } = await browser.run(
    "return { isSecure: isSecureContext, keys: typeof crypto.subtle }",
  ) as { isSecure: boolean; keys: string };
  assert.deepEqual([isSecure, keys], [true, "object"]);
  return "with check words";
}

async function list({ browser }: Stage): Promise<string> {
  await browser.click({ css: "a.card[data-state]" });
  await browser.find(LINE);
  await browser.find({ css: "*", text: "End-to-end encrypted" });
  return "opens its session, encrypted";
}

async function liveKeys({ browser, session }: Stage): Promise<string> {
  await browser.click({ css: "button", text: "Live keys" });
  const live = { css: "textarea:not([readonly])", text: "Type into the terminal" };
  await browser.type(live, "ls -l ä漢");
  await until("the keys on the host's screen", async () => (await session.screen()).includes("ls -l ä漢"));
  await browser.find({ ...LINE, text: "ls -l ä漢" });
  await browser.type(live, "\uE007");
  await typedOnce({ session } as Stage, "ls -l ä漢");
  return "typed, echoed and entered";
}

async function message(stage: Stage): Promise<string> {
  await stage.browser.click({ css: "a", text: "Messages" });
  await send(stage, "by WebKit");
  await submitted(stage, "by WebKit");
  await typedOnce(stage, "by WebKit");
  return "typed once, shown as submitted";
}

async function backForward(stage: Stage): Promise<string> {
  const { browser, origin } = stage;
  await browser.run('addEventListener("pageshow", ({ persisted }) => globalThis.wasKept = persisted)');
  await browser.run("location.href = arguments[0]", `${origin}/icon.svg`);
  await until(
    "the other page",
    () => browser.run("return location.pathname === '/icon.svg'").catch(() => false),
  );
  await browser.back();
  await browser.find(FIELD);
  const wasKept = await browser.run("return globalThis.wasKept === true");
  await send(stage, "after the way back");
  await submitted(stage, "after the way back");
  await typedOnce(stage, "after the way back");
  return wasKept ? "from the back-forward cache" : "loaded again: this browser did not keep the page";
}

/** Freezes the page while the relay restarts and the agent opens a dialog; the page must show both when it resumes. */
async function frozen(stage: Stage): Promise<string> {
  const { browser, stack, session } = stage;
  const goOn = await browser.freeze();
  try {
    stack.relay.kill("SIGKILL");
    await stack.relay.exited;
    await stack.startRelay();
    await session.control({ op: "permit" });
  } finally {
    goOn();
  }
  await browser.find({ css: ".dialog-card", text: "Allow the command" });
  await session.control({ op: "deny" });
  await send(stage, "after the thaw");
  await submitted(stage, "after the thaw");
  await typedOnce(stage, "after the thaw");
  return "shows what happened meanwhile, and sends";
}

/** Drops the relay's answer to a message that it has accepted, and then loads the page again. */
async function unknownOutcome(stage: Stage): Promise<string> {
  const { browser, stack } = stage;
  const before = await commands(stack);
  stack.listener.kill("SIGSTOP");
  await browser.run(`
    const real = globalThis.fetch;
    globalThis.fetch = async (...call) => {
      const answer = await real(...call);
      const { pathname } = new URL(call[0].url ?? call[0], location);
      return pathname.endsWith("/pushes/send") ? await new Promise(() => {}) : answer;
    };
  `);
  await send(stage, "whose answer got lost");
  await until("the relay to have it", async () => {
    return await commands(stack) === before + 1;
  });
  await browser.reload();
  await browser.find({ css: ".messages li", text: "whose answer got lost" });
  stack.listener.kill("SIGCONT");
  await submitted(stage, "whose answer got lost");
  await typedOnce(stage, "whose answer got lost");
  assert.equal(await commands(stack), before + 1, "sent once");
  return "sent again under its id, typed once";
}

const STEPS: readonly [string, (stage: Stage) => Promise<string>][] = [
  ["pairing", pair],
  ["the list", list],
  ["the live terminal", liveKeys],
  ["a message", message],
  ["back and forward", backForward],
  ["a frozen page", frozen],
  ["a reload while the outcome is unknown", unknownOutcome],
];

async function main(): Promise<number> {
  const missing = await missingPackages();
  if (missing.length > 0) {
    say(`✗ missing: on Debian and Ubuntu run "sudo apt-get install ${missing.join(" ")}"`);
    return 1;
  }
  await buildPhone({ outDir: fileURLToPath(new URL("../../dist/phone", import.meta.url)) });
  await using stack = await makeStack();
  const session = await stack.echo();
  await using browser = await WebKit.start();
  const origin = `http://localhost:${new URL(stack.url).port}`;
  for (const [name, step] of STEPS) {
    try {
      say(`✓ ${name}: ${await step({ browser, stack, session, origin })}`);
    } catch (error) {
      say(`✗ ${name}: ${error instanceof Error ? error.message : error}`);
      return 1;
    }
  }
  return 0;
}

if (import.meta.main) Deno.exit(await main());
