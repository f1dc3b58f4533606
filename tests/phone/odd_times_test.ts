/** Times from other senders that no calendar has: the page shows what they belong to. */
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
