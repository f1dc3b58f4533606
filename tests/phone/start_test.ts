/** Starting an agent from the list, and ending one from its session, in a real browser. */
import assert from "node:assert/strict";
import { openMenu, withScene } from "./scene.ts";

Deno.test("an agent is started in a known project from the list, and its session opens [ux-start]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    listener.details = {
      start: {
        agents: ["cc", "codex"],
        projects: [
          { project: "shop", directory: "/home/user/work/shop" },
          { project: "site", directory: "/home/user/svc-demo-79428787925f4640/site" },
          { project: "site", directory: "/home/user/new/site" },
        ],
      },
    };
    await listener.report({ name: "svc-blog" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("button", { name: "Start an agent" }).click();
    const sheet = page.getByRole("dialog", { name: "Start an agent" });
    const projects = sheet.getByLabel("Project");
    await projects.waitFor();
    assert.deepEqual(await projects.locator("option").allInnerTexts(), [
      "shop",
      "site (svc-demo-79428787925f4640)",
      "site (new)",
    ]);
    await projects.selectOption({ label: "site (new)" });
    await sheet.getByLabel("Agent").selectOption({ label: "Codex" });
    const choices = await sheet.locator("select").evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect().left)
    );
    assert.equal(new Set(choices).size, 1, "the choices are aligned");
    await page.setViewportSize({ width: 320, height: 640 });
    const beyond = await sheet.locator("select, button").evaluateAll((all) =>
      all.filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML)
    );
    assert.deepEqual(beyond, [], "a long name of a folder does not make the sheet wider");
    await phone.shoot("start");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await sheet.getByRole("button", { name: "Start", exact: true }).click();

    const refused = await listener.receivedType("agent.start");
    assert.deepEqual(refused.data, { agent: "codex", project: "site", directory: "/home/user/new/site" });
    assert.equal(refused.agentSessionName, undefined);
    await sheet.getByText("Starting…").waitFor();
    listener.acknowledge(refused, { outcome: "refused", reason: "start_failed" });
    await sheet.getByText("Not started. The agent could not be started. Check the listener's log").waitFor();
    await phone.shoot("start-refused");
    await sheet.getByRole("button", { name: "Back" }).click();
    await sheet.getByRole("button", { name: "Start", exact: true }).click();
    const started = await listener.receivedType("agent.start", refused);
    await listener.report({ name: "svc-blog" }, { name: "svc-site", agentLabel: "Codex" });
    listener.acknowledge(started, { outcome: "submitted", agentSessionName: "svc-site" });
    await page.getByRole("heading", { name: "site · Codex" }).waitFor();
    assert.match(page.url(), /svc-site$/);
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a host that lets no phone start agents says so, and names the setting [ux-start]", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    await listener.report();
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    const open = page.getByRole("button", { name: "Start an agent" });
    await open.click();
    await page.getByText("workstation has not said what can be started.").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    listener.details = {};
    await listener.report();
    await open.click();
    await page.getByText("workstation does not let a phone start agents.").waitFor();
    await page.getByText('"allowAgentStart": true').waitFor();
    await phone.shoot("start-not-allowed");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
  }));

Deno.test("an agent is ended from its session after a confirmation, where the host allows it, and the answer is shown [ux-end, ux-keyboard]", () =>
  withScene(async (scene) => {
    const { phone, phone: { page }, listener } = scene;
    const session = { name: "svc-shop", createdAt: 1_790_000_000_000, attached: true };
    const sheet = await openMenu(scene, session);
    await sheet.getByText('"allowAgentEnd": true').waitFor();
    assert.equal(await sheet.getByRole("button", { name: "End agent" }).count(), 0);
    await phone.shoot("menu-not-allowed");

    await listener.report({ ...session, widened: ["allowAgentEnd"] });
    await sheet.getByRole("button", { name: "End agent" }).click();
    await sheet.getByText("End shop · Claude? It stops at once").waitFor();
    await sheet.getByText("Someone has it open at the computer.").waitFor();
    assert.deepEqual(listener.pushes, []);
    await phone.shoot("menu-end");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    assert.equal(await focused(), "Keep it", "the focus is not lost with the button that had it");
    await page.keyboard.press("Enter");
    await sheet.getByRole("button", { name: "End agent" }).waitFor();
    assert.equal(await focused(), "End agent");
    await page.keyboard.press("Enter");
    await sheet.getByRole("button", { name: "End it now" }).click();
    const push = await listener.receivedType("agent.end");
    assert.deepEqual([push.agentSessionName, push.body], ["svc-shop", "end 1790000000000"]);
    await sheet.getByText("Ending…").waitFor();
    assert.equal(await focused(), "Ending…");
    await listener.report();
    listener.acknowledge(push, { outcome: "submitted" });
    await sheet.getByText("The agent has ended.").waitFor();
    await phone.shoot("menu-ended");
    await sheet.getByRole("button", { name: "Close" }).click();
    await page.getByText(/^This session ended at /).waitFor();
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));
