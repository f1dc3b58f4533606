/** Notes and questions from a paired host's agents in a real browser: readable and answered there, and nowhere else. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { textOf } from "../helpers/mcp_bench.ts";
import { startMcp } from "../helpers/mcp_process.ts";
import { storedBy } from "../helpers/tapped_stack.ts";
import { withDemo } from "./scene.ts";

const QUESTION = "May I tell the relay this secret?";

Deno.test("a paired phone shows a sealed question and a note, and answers with a tap and with a secret, even after a reload [seal-answers, ux-inbox, mcp-input]", () =>
  withDemo(async ({ sandbox, up, phone, page, link, origin }) => {
    const agent = await startMcp(sandbox, { env: { SVC_SESSION: "svc-demo" } });
    try {
      await page.goto(link);
      await page.getByRole("button", { name: "They match" }).tap();
      await up.line(/^ {2}(?:[a-z]{3,8} ?){6}$/);
      await page.getByRole("link", { name: "Inbox" }).tap();

      const { client } = agent;
      await client.callTool({
        name: "svc_notify",
        arguments: { title: "A secret note", body: "And its body." },
      });
      const call = client.callTool({
        name: "svc_ask",
        arguments: { question: QUESTION, options: ["Yes, the secret", "No"] },
      });
      call.catch(() => {});
      await page.getByText("And its body.").waitFor();
      await page.getByText(QUESTION).waitFor();
      await page.reload();
      const card = page.getByRole("listitem").filter({ hasText: QUESTION });
      await card.getByRole("button", { name: "Yes, the secret" }).tap();
      assert.equal(textOf(await call), "Yes, the secret");
      await card.getByText("The agent has received it").waitFor();
      await page.reload();
      await card.getByText("Yes, the secret").waitFor();
      await page.getByText("A secret note").waitFor();

      const { apiKey } = JSON.parse(await Deno.readTextFile(`${sandbox.svcHome}/config.json`));
      const data = { kind: "prompt", timeoutSeconds: 300 };
      await createRelayApi({ baseUrl: origin, apiKey }).sendPush({
        type: "ask",
        body: "Your password?",
        data,
      });
      const plain = page.getByRole("listitem").filter({ hasText: "Your password?" });
      await plain.getByText("Not encrypted: the relay could have forged it").waitFor();
      assert.equal(await page.getByText("Not encrypted").count(), 1, "the host's own are sealed");

      const fields = [{ name: "user", type: "text" }, { name: "password", type: "text", secret: true }];
      const form = client.callTool({ name: "svc_input", arguments: { question: "Who are you?", fields } });
      form.catch(() => {});
      const login = page.getByRole("listitem").filter({ hasText: "Who are you?" });
      await login.getByLabel("user").fill("ada");
      assert.equal(await login.getByLabel("password").getAttribute("type"), "password");
      await login.getByLabel("password").fill("secret 42");
      await login.getByRole("button", { name: "Send answer" }).tap();
      assert.equal(textOf(await form), "user: ada\npassword: secret 42");
      await login.getByText("The agent has received it").waitFor();
      assert.match(await login.innerText(), /password: ••••/);
      await page.reload();
      await login.getByText("password: ••••").waitFor();
      const stored = await storedBy({ sandbox });
      const texts = [QUESTION, "Yes, the secret", "A secret note", "And its body", "secret 42"];
      assert.deepEqual(texts.filter((text) => stored.includes(text)), [], "the relay keeps no text");
      assert.deepEqual([await phone.violations(), phone.strangers, phone.faults], [[], [], []]);
    } finally {
      await agent.client.close();
    }
  }));
