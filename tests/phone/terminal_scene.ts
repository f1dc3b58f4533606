/** A phone with real sessions: relay, listener and agents as processes, over a network link that can break. */
import type { Page } from "playwright-core";
import { buildPhone } from "../../scripts/build_phone.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { type EchoSession, makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";
import { Phone } from "./phone.ts";
import { Wire } from "./wire.ts";

export interface TerminalScene {
  stack: Stack;
  wire: Wire;
  phone: Phone;
  page: Page;
}

/** Runs `act` with a signed-in phone over a network link that can break. */
export async function withTerminals(act: (scene: TerminalScene) => Promise<void>): Promise<void> {
  await buildPhone({ outDir: `${CHECKOUT}dist/phone` });
  const stack = await makeStack();
  const ends: (() => unknown)[] = [() => stack[Symbol.asyncDispose]()];
  try {
    const wire = new Wire(Number(new URL(stack.url).port));
    ends.push(() => wire.close());
    const phone = await Phone.start(wire.url);
    ends.push(() => phone.close());
    await phone.page.goto(`${wire.url}/#key=${stack.apiKey}`);
    await act({ stack, wire, phone, page: phone.page });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

export const canvas = (page: Page) => page.locator(".terminal-canvas");
export const status = (page: Page) => page.locator(".terminal-status");

/** Returns the text of the terminal's elements, line by line. */
export const shown = (page: Page): Promise<string> =>
  canvas(page).evaluate((element) => {
    const lines = [...element.querySelectorAll<HTMLElement>(".terminal-line")];
    const top = (line: HTMLElement): number => parseFloat(line.style.top);
    return lines.sort((one, other) => top(one) - top(other)).map((line) => line.textContent?.trimEnd()).join(
      "\n",
    );
  });

export async function untilShown(page: Page, text: string): Promise<void> {
  let screen = "";
  try {
    await until(`"${text}" on the page`, async () => (screen = await shown(page)).includes(text));
  } catch (error) {
    throw new Error(`The page shows "${await status(page).textContent()}" and:\n${screen}`, { cause: error });
  }
}

interface Program {
  name: string;
  cols: number;
  rows: number;
  /** A shell's command. */
  program: string;
}

/** Starts a program in a session of its own, in the project's folder. */
export async function startProgram(
  { sandbox }: Pick<Stack, "sandbox">,
  { name, cols, rows, program }: Program,
): Promise<void> {
  const size = ["-x", String(cols), "-y", String(rows)];
  const place = ["-c", sandbox.project, "-e", `HOME=${sandbox.home}`];
  const argv = ["sh", "-c", program];
  await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", name, ...size, ...place, ...argv);
}

export async function openSession(page: Page, label: RegExp): Promise<void> {
  await page.getByRole("link", { name: label }).tap();
  await status(page).getByText("Live").waitFor();
}

export async function open({ stack, page }: TerminalScene): Promise<EchoSession> {
  const session = await stack.echo();
  await openSession(page, /Echo/);
  await untilShown(page, "❯");
  return session;
}
