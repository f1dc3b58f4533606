/** Long requests in a real browser, from a real hook and listener: all of it is fetched and can be scrolled through, and can be allowed only at its end. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { buildPhone } from "../../scripts/build_phone.ts";
import { requestText } from "../../src/agents/hooks.ts";
import { runSvc } from "../helpers/program.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { makeStack } from "../helpers/stack.ts";
import { tapStill } from "./card_scene.ts";
import { Phone } from "./phone.ts";

interface Scene {
  phone: Phone;
  page: Page;
  /** Runs the hook of a call that writes this text; resolves with its output. */
  ask(content: string): Promise<{ request: string; stdout: Promise<string> }>;
}

async function withHost(act: (scene: Scene) => Promise<void>): Promise<void> {
  await buildPhone({ outDir: `${CHECKOUT}dist/phone` });
  await using stack = await makeStack();
  const { sandbox } = stack;
  const path = `${sandbox.svcHome}/config.json`;
  const config = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...config, allowRemoteApproval: "once" }));
  await stack.restartListener();
  const link = await stack.pairLink();
  const { name } = await stack.echo();
  const phone = await Phone.start(new URL(link).origin);
  try {
    const { page } = phone;
    await page.goto(link);
    await page.getByRole("button", { name: "They match" }).tap();
    await page.goto(new URL("#/inbox", page.url()).href);
    await act({
      phone,
      page,
      ask: async (content) => {
        const input = { file_path: `${sandbox.project}/file.txt`, content };
        const call = { session_id: "s1", hook_event_name: "PermissionRequest", cwd: sandbox.project };
        const stdout = runSvc(sandbox, ["hook", "PermissionRequest", "cc", "cards"], {
          env: { SVC_SESSION: name },
          stdin: JSON.stringify({ ...call, tool_name: "Write", tool_input: input }),
        }).then((ran) => ran.stdout);
        return await Promise.resolve({ request: requestText(input), stdout });
      },
    });
  } finally {
    await phone.close();
  }
}

const DIFF = Array.from({ length: 5_000 }, (_, line) => `${"+- "[line % 3]} line ${line} of a change`).join(
  "\n",
);
/** Short lines, a very long one, and another script. */
const MEGABYTE = [DIFF, "kwxyz ".repeat(60_000), "漢字仮名\n".repeat(60_000)].join("\n").padEnd(
  1_048_576,
  "x",
);

const shownIn = (region: Locator): Promise<string> => region.evaluate((element) => element.textContent ?? "");

/** Just too long for a push. */
const SHORT = DIFF.split("\n").slice(0, 700).join("\n");
const REQUESTS = {
  "a request of 20 kB": SHORT,
  "a diff of 5,000 lines": DIFF,
  "a request of 1 MB": MEGABYTE,
};

for (const [what, content] of Object.entries(REQUESTS)) {
  Deno.test(`${what} is fetched, shown to its last character and allowed once its end was reached [card-fetched, card-read]`, () =>
    withHost(async ({ phone, page, ask }) => {
      const { request, stdout } = await ask(content);
      const card = page.locator('.question[data-status="open"]');
      const region = card.getByRole("region", { name: "The whole request" });
      await region.waitFor();
      assert.ok((await shownIn(region)).length < 20_000);
      const allow = card.getByRole("button", { name: "Allow once" });
      assert.equal(await allow.isDisabled(), true);
      await phone.shoot("card-long-beginning");
      assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
      await card.getByRole("button", { name: /Load all of it/ }).tap();
      await card.getByText(/ lines, .* characters/).waitFor();
      assert.equal(await shownIn(region), request, "never cut");
      assert.equal(await allow.isDisabled(), true);
      await card.getByText("To allow it, go to its end first.").waitFor();
      await region.locator(".edge").first().scrollIntoViewIfNeeded();
      await card.getByText(/^[0-9] % of it/).waitFor();
      // The page keeps drawing while it is scrolled, so it answers between two frames.
      await region.evaluate(async (element) => {
        const step = element.scrollHeight / 20;
        for (let frame = 0; frame < 10; frame++) {
          element.scrollTop += step;
          await new Promise((done) => requestAnimationFrame(done));
        }
      });
      assert.equal(await allow.isDisabled(), true);
      await phone.shoot("card-long-middle");
      // The check lays out every line, which takes minutes for a megabyte and blocks the page.
      if (content === SHORT) assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
      await card.getByRole("button", { name: "Go to the end" }).tap();
      await card.getByText("To allow it, go to its end first.").waitFor({ state: "detached" });
      const end = await region.locator(".part").last().evaluate((part) => {
        const outer = part.parentElement?.getBoundingClientRect();
        return Math.abs(part.getBoundingClientRect().bottom - (outer?.bottom ?? Infinity));
      });
      assert.ok(end < 40, `the end is ${end} pixels away`);
      assert.equal(await shownIn(region), request);
      await tapStill(card, "Allow once");
      await card.waitFor({ state: "detached" });
      assert.deepEqual(JSON.parse(await stdout).hookSpecificOutput.decision, { behavior: "allow" });
      assert.deepEqual([phone.strangers, phone.faults], [[], []]);
    }));
}
