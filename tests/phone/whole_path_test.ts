/** `svc up --demo` and a real browser: open the link, pick the session, send a message, and see it in the pane. */
import assert from "node:assert/strict";
import { buildPhone } from "../../scripts/build_phone.ts";
import { startSvc } from "../helpers/program.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { until } from "../helpers/until.ts";
import { Phone } from "./phone.ts";

Deno.test("svc up --demo, its link on a phone, a message typed into the real pane [tty-browser-test, up-demo, up-one-command, spec-pick, spec-resident, inv-picker, flow-4]", async () => {
  await buildPhone({ outDir: `${CHECKOUT}dist/phone` });
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, ["up", "--demo", "--listen", "127.0.0.1:0"]);
  const [, link = "", origin = ""] = await up.line(/^Open this link: ((http:\/\/localhost:\d+)\/#\S+)$/);
  const phone = await Phone.start(origin);
  try {
    const { page } = phone;
    await page.goto(link);
    await page.getByRole("button", { name: "They match" }).tap();
    await page.getByRole("link", { name: /demo · Echo/ }).tap();
    await page.getByRole("textbox").fill("hello; from a real browser 👋");
    await page.getByRole("button", { name: "Send", exact: true }).tap();
    await page.locator(".receipt-state", { hasText: "Submitted" }).waitFor();
    await phone.shoot("whole-path");
    const pane = (): Promise<string> => sandbox.tmux("capture-pane", "-p", "-t", "=svc-demo:");
    await until(
      "the text in the pane",
      async () => (await pane()).includes("│ hello; from a real browser 👋"),
    );
    assert.deepEqual(phone.strangers, []);
    assert.deepEqual(phone.faults, []);
  } finally {
    await phone.close();
    up.kill("SIGINT");
    await up.exited;
  }
});
