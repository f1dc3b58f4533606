/** Sends the README's request for scripts. */
import assert from "node:assert/strict";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { makeStack } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS } from "../helpers/until.ts";

interface Example {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Returns the README's curl command with its variables filled in as a shell would. */
async function readExample(variables: Record<string, string>): Promise<Example> {
  const page = await Deno.readTextFile(`${CHECKOUT}README.md`);
  const [command = ""] = /curl -sS [^`]+/.exec(page) ?? [];
  const filled = command.replace(/\$(\w+)/g, (_, name: string) => variables[name] ?? "");
  const headers = Array.from(
    filled.matchAll(/-H ["']([^:]+): ([^"']+)["']/g),
    ([, name = "", value = ""]) => [name, value],
  );
  const [, url = ""] = /"(http[^"]+)"/.exec(filled) ?? [];
  const [, body = ""] = /-d '([^']+)'/.exec(filled) ?? [];
  return { url, headers: Object.fromEntries(headers), body };
}

Deno.test("the README's request types its text into the session [http-script, env-base-url, env-api-key]", async () => {
  await using stack = await makeStack();
  const session = await stack.echo();
  const { url, headers, body } = await readExample({ SVC_BASE_URL: stack.url, SVC_API_KEY: stack.apiKey });
  assert.deepEqual(Object.keys(headers), ["X-API-Key", "Content-Type"]);
  const push = { ...JSON.parse(body), agentSessionName: session.name };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(push) });
  assert.equal(answer.status, 202);
  const { id } = await answer.json();
  const record = await waitForReceipt(stack.api, id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 });
  assert.equal(record.receipt.state, "submitted");
  assert.deepEqual(await session.prompts(1), ["run the tests"]);
});
