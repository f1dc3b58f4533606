/** Items older than the page of history that the app reads: open questions, the target of a notification, a dialog's text. */
import assert from "node:assert/strict";
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { PAGE_LIMIT_MAX } from "../../src/protocol/limits.ts";
import { type Scene, sendPatiently, withScene } from "./scene.ts";

const LISTENER = "dev_listener_00000001";
/** A port on which nothing listens. */
const NOWHERE = 1;
const ASK = { type: "ask", agentSessionName: "svc-demo" };

function question(timeoutSeconds = 600) {
  return { kind: "prompt", timeoutSeconds, listener: LISTENER };
}

async function apiOf({ relay, makeKey }: Scene): Promise<RelayApi> {
  return createRelayApi({ baseUrl: relay.url, apiKey: await makeKey("push:read", "push:send") });
}

/** On a busy machine a relay refuses many more at once. */
const AT_ONCE = 10;

/** Sends as many notes as the page reads of the history. */
async function sendNotes(scene: Scene): Promise<void> {
  const api = await apiOf(scene);
  for (let sent = 0; sent < PAGE_LIMIT_MAX; sent += AT_ONCE) {
    const titles = Array.from({ length: AT_ONCE }, (_, n) => `note ${sent + n}`);
    await Promise.all(titles.map((title) => sendPatiently(api, { type: "note", title })));
  }
}

async function signIn({ phone: { page }, wire, makeKey }: Scene): Promise<void> {
  await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
  await page.getByText("Live", { exact: true }).waitFor();
}

Deno.test("after a reload open questions are shown and those closed meanwhile are closed, despite 200 newer pushes [ux-old-open]", () =>
  withScene(async (scene) => {
    const { phone: { page }, relay, wire, listener } = scene;
    const api = await apiOf(scene);
    await listener.report({ name: "svc-demo" });
    const open = await api.sendPush({ ...ASK, body: "Deploy to production?", data: question() });
    const closed = await api.sendPush({ ...ASK, body: "Which color?", data: question() });
    await signIn(scene);
    await page.getByRole("link", { name: /2 questions for you/ }).waitFor();
    wire.pointTo(NOWHERE);
    await api.sendPush({ type: "ask.answer", inReplyTo: closed.id, body: "blue" });
    await sendNotes(scene);
    wire.pointTo(relay.port);
    await page.getByRole("link", { name: /1 question for you/ }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: /1 question for you/ }).tap();
    await page.locator(`[data-group="open"] [data-id="${open.id}"]`).getByText("Deploy to production?")
      .waitFor();
    assert.equal(await page.locator('[data-group="open"] li').count(), 1);
  }));

Deno.test("a tapped notification opens its item despite 200 newer pushes, with the app closed or open [ux-old-open]", () =>
  withScene(async (scene) => {
    const { phone: { page }, wire, listener } = scene;
    const api = await apiOf(scene);
    await listener.report({ name: "svc-demo" });
    const send = (title: string) => api.sendPush({ type: "note", title, agentSessionName: "svc-demo" });
    const [first, second] = [await send("the build is done"), await send("the tests passed")];
    await signIn(scene);
    await page.goto("about:blank");
    await sendNotes(scene);
    const address = (id: string): string => `${wire.url}/#/s/${LISTENER}/svc-demo/messages/${id}`;
    await page.goto(address(first.id));
    await page.locator(`.opened-item [data-id="${first.id}"]`).getByText("the build is done").waitFor();
    await page.goto(address(second.id));
    await page.locator(`.opened-item [data-id="${second.id}"]`).getByText("the tests passed").waitFor();
  }));

Deno.test("an open dialog has its text despite 200 newer pushes [ux-old-open, dlg-text]", () =>
  withScene(async (scene) => {
    const { phone: { page }, listener } = scene;
    const body = "Allow the command?";
    const { id } = await (await apiOf(scene)).sendPush({
      type: "agent.attention",
      agentSessionName: "svc-demo",
      body,
      data: { event: "dialog" },
    });
    await sendNotes(scene);
    const dialog = { id, since: Date.now(), can: [] };
    await listener.report({ name: "svc-demo", state: "waiting", dialog });
    await signIn(scene);
    await page.getByRole("link", { name: /Inbox|question/ }).first().tap();
    await page.locator(".dialog-card").getByText(body).waitFor();
  }));
