/** An upgrade while messages arrive, for each way of installing: nothing is lost, and an open agent's hooks keep working. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { runAgent } from "../agents/run_agent.ts";
import { assertTyped, untilPushes } from "../agents/phone.ts";
import { runSvc } from "../helpers/program.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS, until } from "../helpers/until.ts";
import { copySource, type Way, WAYS } from "./ways.ts";

const NEXT = "99.0.0";
/**
 * How many are sent while the files are replaced, and while the wrapper replaces the listener; a session accepts 30 per
 * minute.
 */
const WHILE_INSTALLING = 6;
const WHILE_RESTARTING = 18;

interface Sent {
  body: string;
  state: string;
}

/** Sends the messages one after the other without waiting for their outcomes, and then waits for all of these. */
async function sendAll(
  { api }: Stack,
  { session, count, when }: { session: string; count: number; when: string },
): Promise<Sent[]> {
  const sent: { body: string; id: string }[] = [];
  for (let number = 1; number <= count; number++) {
    const body = `message ${number} ${when}`;
    sent.push({
      body,
      id: (await api.sendPush({ type: "agent.command", agentSessionName: session, body })).id,
    });
  }
  return await Promise.all(sent.map(async ({ body, id }) => {
    const { receipt } = await waitForReceipt(api, id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 200 });
    return { body, state: receipt.state };
  }));
}

async function upgradeUnderLoad(way: Way, { folder, next }: { folder: string; next: string }): Promise<void> {
  const launch = await way.install(`${folder}/installed`);
  await using stack = await makeStack({ launch, listener: false });
  const { sandbox } = stack;
  await using agent = await runAgent("cc", stack);
  const echo = await stack.echo();
  const versionOf = async (): Promise<string> =>
    JSON.parse((await stack.svc("status", "--json")).stdout).listener.version;
  assert.equal(await versionOf(), VERSION);
  const session = echo.name;
  const [upgraded, first] = await Promise.all([
    way.install(`${folder}/installed`, next),
    sendAll(stack, { session, count: WHILE_INSTALLING, when: "while it is installed" }),
  ]);
  const [wrapper, second] = await Promise.all([
    runSvc(sandbox, ["--detach", "echo"], { launch: upgraded }),
    sendAll(stack, { session, count: WHILE_RESTARTING, when: "while the listener is replaced" }),
  ]);
  const notice = `The listener runs v${VERSION}, v${NEXT} is installed: restarting it on v${NEXT}.`;
  assert.ok(wrapper.stderr.includes(notice), wrapper.stderr);
  const sent = [...first, ...second];
  assert.deepEqual(sent.filter(({ state }) => state !== "submitted"), []);
  const prompts = await echo.prompts(sent.length);
  assert.deepEqual(prompts, sent.map(({ body }) => body));
  say(`upgrade by ${way.name}: ${prompts.length} of ${sent.length} messages arrived once`);
  const shown = JSON.parse((await runSvc(sandbox, ["status", "--json"], { launch: upgraded })).stdout);
  assert.equal(shown.listener.version, NEXT);
  await agent.untilIdle();
  assertTyped((await stack.send(agent.session, "hello from the phone")).receipt, "hello from the phone");
  await until("the message and what the hook adds at the model", () => {
    const body = agent.standIn.bodies().at(-1) ?? "";
    return body.includes("hello from the phone") && body.includes("drives this session from their phone");
  });
  await untilPushes(stack, "agent.stop", 1);
}

for (const way of WAYS) {
  Deno.test(`upgraded by ${way.name} while messages arrive: none is lost or duplicated, the versions are printed, an open agent's hooks work [pkg-upgrade]`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "svc-upgrade-" });
    try {
      await Deno.mkdir(`${folder}/installed`);
      const next = await copySource(`${folder}/next`, NEXT);
      await upgradeUnderLoad(way, { folder, next });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
