/** Questions from agents in a real browser: shown live, answered by touch, in time or late, and still readable later. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { type Connected, connectMcp, textOf } from "../helpers/mcp_bench.ts";
import { until } from "../helpers/until.ts";
import { kept, type Scene, withScene } from "./scene.ts";

const LISTENER = "dev_listener_00000001";

interface Bench {
  scene: Scene;
  page: Page;
  api: RelayApi;
  mcp: Connected;
  /** Calls a tool as an agent does. */
  call(name: string, args: Record<string, unknown>): Promise<string>;
}

/** Opens the inbox on the phone and connects an agent's tools. */
async function withInbox(act: (bench: Bench) => Promise<void>): Promise<void> {
  await withScene(async (scene) => {
    const { phone: { page }, wire, relay, listener, makeKey } = scene;
    await listener.report({ name: "svc-demo", state: "working" }, { name: "svc-shop", agentLabel: "Codex" });
    const apiKey = await makeKey("push:read", "push:send");
    const settings = { baseUrl: relay.url, wsUrl: relay.wsUrl, apiKey };
    const mcp = await connectMcp({ settings: () => Promise.resolve(settings), session: "svc-demo" });
    try {
      await page.goto(`${wire.url}/#key=${apiKey}`);
      await page.getByRole("link", { name: "Inbox" }).tap();
      await page.getByText("Nothing here yet").waitFor();
      const call: Bench["call"] = (name, args) => {
        const result = mcp.client.callTool({ name, arguments: args }).then(textOf);
        // If the test fails before it awaits the result, that failure is the one to report.
        result.catch(() => {});
        return result;
      };
      await act({ scene, page, api: createRelayApi(settings), mcp, call });
    } finally {
      await mcp.client.close();
      await mcp.served;
    }
  });
}

const card = (page: Page, text: string) => page.getByRole("listitem").filter({ hasText: text });

/** Asks for an agent that has ended; it stops waiting after a second. */
async function askLate({ api }: Bench, body: string, data: Record<string, unknown> = {}): Promise<void> {
  const ask = { kind: "prompt", timeoutSeconds: 1, listener: LISTENER, ...data };
  await api.sendPush({ type: "ask", body, agentSessionName: "svc-demo", data: ask });
}

Deno.test("a question shows at once, is answered by a tap, and stays readable [ux-inbox, ux-live, mcp-ask]", () =>
  withInbox(async (bench) => {
    const { page, call, scene } = bench;
    await page.getByRole("link", { name: "All agents" }).tap();
    const waiting = call("svc_ask", {
      question: "The migration drops the column `legacy_id`.\nApply it to the staging database?",
      options: ["Yes, apply it", "No, keep the column", "Show me the SQL first"],
    });
    await page.getByRole("link", { name: /1 question for you/ }).tap();
    const question = card(page, "The migration drops");
    await question.getByText(/^[1-4] min left$/).waitFor();
    await scene.phone.shoot("ask-options");
    assert.deepEqual([await scene.phone.violations(), await scene.phone.misfits()], [[], []]);

    await question.getByRole("button", { name: "Show me the SQL first" }).tap();
    assert.equal(await waiting, "Show me the SQL first");
    await question.getByText("The agent has received it").waitFor();
    assert.equal(await question.getByRole("button").count(), 0);
    await page.reload();
    await card(page, "The migration drops").getByText("The agent has received it").waitFor();
    assert.match(await card(page, "The migration drops").innerText(), /Show me the SQL first/);
    assert.deepEqual([scene.phone.strangers, scene.phone.faults], [[], []]);
  }));

Deno.test("checkboxes, free text and forms are answered too [ux-inbox, mcp-prompt, mcp-input]", () =>
  withInbox(async ({ page, call, scene }) => {
    const several = call("svc_ask", {
      question: "Which suites?",
      options: ["unit", "e2e", "phone"],
      multiple: true,
    });
    const suites = card(page, "Which suites?");
    const send = suites.getByRole("button", { name: "Send answer" }).first();
    await send.waitFor();
    assert.equal(await send.isDisabled(), true);
    for (const name of ["phone", "unit"]) await suites.getByRole("checkbox", { name }).check();
    await send.tap();
    assert.equal(await several, "unit, phone");

    const words = call("svc_ask", { question: "Tabs or spaces?", options: ["Tabs", "Spaces"] });
    await card(page, "Tabs or spaces?").getByText("Answer in your own words").tap();
    const own = card(page, "Tabs or spaces?").getByRole("textbox");
    await own.fill("neither");
    await own.fill("");
    assert.ok(await own.isVisible(), "the field stays when its text is deleted");
    await own.fill("whatever\ndeno fmt does");
    await card(page, "Tabs or spaces?").getByRole("button", { name: "Send answer" }).tap();
    assert.equal(await words, "whatever\ndeno fmt does");

    const form = call("svc_input", {
      question: "Where shall it run?",
      fields: [
        { name: "host", type: "text", label: "Host name" },
        { name: "port", type: "number", label: "Port" },
        { name: "zone", type: "choice", label: "Zone", options: ["Frankfurt", "Dublin"] },
        { name: "note", type: "text", optional: true },
        { name: "tls", type: "boolean", label: "With TLS" },
      ],
    });
    const where = card(page, "Where shall it run?");
    await where.getByLabel("Host name").fill("box.example");
    await where.getByRole("textbox", { name: "Port" }).fill("eighty");
    await where.getByRole("button", { name: "Send answer" }).tap();
    await where.getByText("Enter a number, such as 1500 or 1.5.").waitFor();
    assert.equal(await where.getByText("This field is required.").count(), 1);
    await scene.phone.shoot("ask-form");
    assert.deepEqual([await scene.phone.violations(), await scene.phone.misfits()], [[], []]);
    await where.getByRole("textbox", { name: "Port" }).fill("8080");
    const sign = where.getByRole("button", { name: "Change the sign: Port" });
    await sign.tap();
    assert.equal(await where.getByRole("textbox", { name: "Port" }).inputValue(), "-8080");
    await sign.tap();
    await where.getByLabel("Zone").selectOption("Dublin");
    await where.getByRole("checkbox", { name: "With TLS" }).check();
    await where.getByRole("button", { name: "Send answer" }).tap();
    assert.equal(await form, "host: box.example\nport: 8080\nzone: Dublin\ntls: true");
  }));

Deno.test("on a German page a point that may separate thousands is asked about, and a comma begins a fraction [ux-inbox, mcp-input, ux-languages]", () =>
  withInbox(async ({ page, call }) => {
    const fields = [
      { name: "tokens", type: "number", label: "Tokens" },
      { name: "factor", type: "number", label: "Factor" },
    ];
    const form = call("svc_input", { question: "How many?", fields });
    await card(page, "How many?").waitFor();
    await page.evaluate(() => localStorage.setItem("svc.language", "de"));
    await page.reload();
    await card(page, "How many?").getByRole("textbox", { name: "Tokens" }).fill("1.500");
    await card(page, "How many?").getByRole("textbox", { name: "Factor" }).fill("1,250");
    await card(page, "How many?").getByRole("button", { name: "Antwort senden" }).tap();
    await page.getByText("Gib eine Zahl wie 1500 oder 1,5 ein.").waitFor();
    await card(page, "How many?").getByRole("textbox", { name: "Tokens" }).fill("1500");
    await card(page, "How many?").getByRole("button", { name: "Antwort senden" }).tap();
    assert.equal(await form, "tokens: 1500\nfactor: 1.25");
  }));

Deno.test("a half-filled form and ticked options survive another view and a reload; a secret is not kept [ux-form-draft]", () =>
  withInbox(async (bench) => {
    const { page, api } = bench;
    const fields = [
      { name: "host", type: "text", label: "Host name" },
      { name: "zone", type: "choice", label: "Zone", options: ["Frankfurt", "Dublin"] },
      { name: "tls", type: "boolean", label: "With TLS" },
    ];
    const common = { timeoutSeconds: 600, listener: LISTENER };
    const send = (body: string, data: Record<string, unknown>): Promise<unknown> =>
      api.sendPush({ type: "ask", body, agentSessionName: "svc-demo", data: { ...common, ...data } });
    await send("Where shall it run?", { kind: "input", fields });
    await send("Which suites?", { kind: "ask", options: ["unit", "e2e", "phone"], multiple: true });
    const where = card(page, "Where shall it run?");
    const suites = card(page, "Which suites?");
    await where.getByLabel("Host name").fill("box.example");
    await where.getByLabel("Zone").selectOption("Dublin");
    await where.getByRole("checkbox", { name: "With TLS" }).check();
    await suites.getByRole("checkbox", { name: "phone" }).check();
    await suites.getByText("Answer in your own words").tap();
    await suites.getByRole("textbox").fill("and lint");

    const check = async (): Promise<void> => {
      await where.waitFor();
      const found = [
        await where.getByLabel("Host name").inputValue(),
        await where.getByLabel("Zone").inputValue(),
        await where.getByRole("checkbox", { name: "With TLS" }).isChecked(),
        await suites.getByRole("checkbox", { name: "phone" }).isChecked(),
        await suites.getByRole("checkbox", { name: "unit" }).isChecked(),
        await suites.getByRole("textbox").inputValue(),
      ];
      assert.deepEqual(found, ["box.example", "Dublin", true, true, false, "and lint"]);
    };
    await page.getByRole("link", { name: "All agents" }).tap();
    await page.getByRole("link", { name: /questions for you/ }).tap();
    await check();
    await until("the drafts on disk", async () => {
      const drafts = [...(await kept(page, "drafts")).values()].join();
      return /"tls":true/.test(drafts) && /and lint/.test(drafts);
    });
    await page.reload();
    await check();
    await where.getByRole("button", { name: "Send answer" }).tap();
    await until("the form's draft to go", async () => (await kept(page, "drafts")).size === 1);
    await suites.getByRole("button", { name: "Send answer" }).first().tap();
    await until("ticks and own words", async () => {
      const { pushes } = await api.listPushes({ before: "end" });
      return pushes.some(({ push }) => push.type === "ask.answer" && push.body === "phone\nand lint");
    });
  }));

Deno.test("a late answer says that it is typed into the session, and with what result [mcp-late, ux-late, ux-inbox]", () =>
  withInbox(async (bench) => {
    const { page, scene: { listener, phone } } = bench;
    await askLate(bench, "Shall I go on with the second part?", {
      kind: "ask",
      options: ["Go on", "Stop here"],
    });
    const question = card(page, "Shall I go on");
    await question.getByText("Your answer will be typed into its session.").waitFor();
    await phone.shoot("ask-late");
    await question.getByRole("button", { name: "Go on" }).tap();
    const push = await listener.received("Go on");
    await question.getByText("so it is typed into the session").waitFor();
    listener.acknowledge(push, { outcome: "held", reason: "dialog_open" });
    await question.getByText(/In the session: On hold.*once the dialog is closed/).waitFor();
    listener.acknowledge(push, { outcome: "submitted" });
    await question.getByText("In the session: Submitted").waitFor();
    assert.equal(listener.pushes.length, 1);
    await question.getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("link", { name: "Messages" }).tap();
    await page.locator(".body", { hasText: "Go on" }).waitFor();
  }));

Deno.test("a late question of a session that is no longer listed does not promise to be answered [ux-late]", () =>
  withInbox(async (bench) => {
    const { scene: { listener }, page } = bench;
    await askLate(bench, "Shall I go on alone?");
    const question = card(page, "Shall I go on alone?");
    await question.getByRole("textbox").waitFor();
    await listener.report({ name: "svc-shop", agentLabel: "Codex" });
    await question.getByText("its session is no longer listed").waitFor();
    assert.equal(await question.getByText("will be typed").count(), 0);
  }));

Deno.test("a form without a session for late answers names the session that asks, and is shown in it [mcp-input, ux-inbox]", () =>
  withInbox(async ({ page, api }) => {
    const fields = [{ name: "user", type: "text" }];
    const data = { kind: "input", fields, session: "svc-demo", listener: LISTENER, timeoutSeconds: 600 };
    await api.sendPush({ type: "ask", body: "The **staging** user?", data });
    await card(page, "staging").getByRole("link", { name: /demo · Claude/ }).tap();
    await page.getByRole("link", { name: "Messages" }).tap();
    const form = card(page, "staging");
    assert.equal(await form.locator("strong").textContent(), "staging");
    await form.getByRole("button", { name: "Send answer" }).tap();
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), "INPUT", "the faulty field");
    await page.keyboard.type("me");
    await form.getByRole("button", { name: "Send answer" }).tap();
    await form.getByText("Your answer", { exact: true }).waitFor();
  }));

Deno.test("a question answered on another phone, or withdrawn by the agent, closes on this phone too [ux-inbox, ux-live]", () =>
  withInbox(async ({ page, api, mcp, call, scene }) => {
    const elsewhere = call("svc_prompt", { question: "Who is first?" });
    await card(page, "Who is first?").getByRole("textbox").fill("not I");
    const { pushes } = await api.listPushes({ before: "end" });
    await api.sendPush({ type: "ask.answer", inReplyTo: pushes.at(-1)?.push.id, body: "another phone" });
    assert.equal(await elsewhere, "another phone");
    await card(page, "Who is first?").getByText("The answer").waitFor();
    assert.equal(await page.getByRole("textbox").count(), 0);

    const cancel = new AbortController();
    const taken = mcp.client.callTool({ name: "svc_prompt", arguments: { question: "Never mind?" } }, {
      signal: cancel.signal,
    });
    await card(page, "Never mind?").getByRole("textbox").waitFor();
    cancel.abort();
    await assert.rejects(taken);
    await card(page, "Never mind?").getByText("The agent withdrew the question").waitFor();

    await call("svc_notify", {
      title: "Deployed to staging",
      body: "All 412 tests are green.",
      level: "warning",
    });
    await card(page, "Deployed to staging").getByText("All 412 tests are green.").waitFor();
    await api.sendPush({
      type: "agent.stop",
      agentSessionName: "svc-shop",
      body: "I have fixed the rounding of VAT.",
    });
    await card(page, "rounding of VAT").getByText("Turn finished").waitFor();
    await scene.phone.shoot("inbox");
    assert.deepEqual([await scene.phone.violations(), await scene.phone.misfits()], [[], []]);
  }));

Deno.test("an answer given without a link survives a reload and is sent once [ux-outbox]", () =>
  withInbox(async ({ page, api, call, scene }) => {
    const waiting = call("svc_prompt", { question: "In the tunnel?" });
    await card(page, "In the tunnel?").getByRole("textbox").fill("yes, in the tunnel");
    await page.evaluate(async () => void await navigator.serviceWorker.ready);
    scene.wire.pointTo(1);
    await page.getByText("Reconnecting…").first().waitFor();
    await card(page, "In the tunnel?").getByRole("button", { name: "Send answer" }).tap();
    await page.getByText("Your answer will be sent when the connection is back").waitFor();
    await page.reload();
    await page.getByText("1 message waits to be sent.").waitFor();
    scene.wire.pointTo(scene.relay.port);
    assert.equal(await waiting, "yes, in the tunnel");
    await page.getByText("The agent has received it").waitFor();
    const { pushes } = await until("the history", () => api.listPushes({ before: "end" }));
    assert.equal(pushes.filter(({ push }) => push.type === "ask.answer").length, 1);
  }));
