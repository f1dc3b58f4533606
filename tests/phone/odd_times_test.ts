/** Times that no calendar has, from other senders, and a phone with a wrong clock. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { withScene } from "./scene.ts";

const LISTENER = "dev_listener_00000001";
/** Beyond the last moment of a JavaScript Date. */
const NEVER = Number.MAX_SAFE_INTEGER;

Deno.test("a session with times that no calendar has does not break the page", () =>
  withScene(async ({ phone: { page }, wire, listener, makeKey }) => {
    const apiKey = await makeKey("push:read", "push:send");
    const api = createRelayApi({ baseUrl: wire.url, apiKey });
    await listener.report({ name: "svc-demo", limit: { resetsAt: NEVER } });
    await api.sendPush({ type: "agent.command", agentSessionName: "svc-demo", body: "run the tests" });
    const data = { later: { kind: "at", at: NEVER } };
    await api.sendPush({ type: "agent.command", agentSessionName: "svc-demo", body: "much later", data });
    await page.goto(`${wire.url}/#key=${apiKey}`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.goto(`${wire.url}/#/s/${LISTENER}/svc-demo/messages`);
    await page.getByText("run the tests").waitFor();
    await page.getByText("much later").waitFor();
    await listener.report({ name: "svc-demo", state: "exited", stateSince: -NEVER });
    await page.getByText("run the tests").waitFor();
    await page.goto(`${wire.url}/#/`);
    await page.getByText("Live", { exact: true }).waitFor();
  }));

/** Runs in the page before its scripts: its clock is an hour and a half fast. */
function fast(): void {
  const now = Date.now.bind(Date);
  Date.now = () => now() + 5_400_000;
}

Deno.test("a session says that the phone's clock is wrong, by which encrypted questions and answers expire", () =>
  withScene(async ({ phone, wire, listener, makeKey }) => {
    const { page } = phone;
    await listener.report({ name: "svc-demo" });
    await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
    await page.getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("textbox", { name: /Message to/ }).waitFor();
    assert.equal(await page.getByText("The clocks of this phone").count(), 0);
    await page.addInitScript(fast);
    await page.reload();
    await page.getByText("The clocks of this phone and of its relay are 1 h apart.").waitFor();
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
  }));
