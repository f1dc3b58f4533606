/** `svc up --demo` and a real browser: open the link, pick the session, send a message, and see it in the pane. */
import assert from "node:assert/strict";
import { until } from "../helpers/until.ts";
import { sendMessage, withDemo } from "./scene.ts";

Deno.test("svc up --demo, its link on a phone, a message typed into the real pane [tty-browser-test, up-demo, up-one-command, spec-pick, spec-resident, inv-picker, flow-4]", () =>
  withDemo(async ({ sandbox, phone, page, link }) => {
    await page.goto(link);
    await page.getByRole("button", { name: "They match" }).tap();
    await page.getByRole("link", { name: /demo · Echo/ }).tap();
    await sendMessage(page, "hello; from a real browser 👋");
    await page.locator(".receipt-state", { hasText: "Submitted" }).waitFor();
    await phone.shoot("whole-path");
    const pane = (): Promise<string> => sandbox.tmux("capture-pane", "-p", "-t", "=svc-demo:");
    await until(
      "the text in the pane",
      async () => (await pane()).includes("│ hello; from a real browser 👋"),
    );
    assert.deepEqual(phone.strangers, []);
    assert.deepEqual(phone.faults, []);
  }));
