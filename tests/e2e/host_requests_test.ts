/** A paired phone starts an agent and ends it, over a relay that records everything. */
import assert from "node:assert/strict";
import { httpBaseFromWs } from "../../src/client/addresses.ts";
import { endRequest, startRequest } from "../../src/phone/requests.ts";
import { PagePhone } from "../helpers/page_phone.ts";
import { type Tapped, tappedStack } from "../helpers/tapped_stack.ts";
import { until } from "../helpers/until.ts";

/** With the final state and reason of the request. */
async function ended(page: PagePhone, id: string): Promise<string> {
  const message = await until("the host's answer", () => {
    const found = page.store.get().messages.get(id);
    return found?.progress.kind === "taken" && found.progress.receipt.final && found;
  });
  assert.ok(message.progress.kind === "taken");
  const { state, reason = "" } = message.progress.receipt;
  return `${state} ${reason}`.trim();
}

async function sessionsOf({ stack }: Tapped): Promise<string> {
  return await stack.sandbox.tmux("list-sessions", "-F", "#{session_name}").catch(() => "");
}

Deno.test("a paired phone learns what it may start, starts an agent and ends it, and the relay reads none of it [ux-start, ux-end, type-start, type-end, det-sealed, det-lines]", async () => {
  await using tapped = await tappedStack({ allowAgentStart: true, allowAgentEnd: true });
  const { stack, tap } = tapped;
  const { deviceId } = stack;
  using page = new PagePhone({ baseUrl: httpBaseFromWs(tapped.wsUrl) });
  await page.open(await stack.pairLink());
  await page.controller.confirmPairing();
  // The host completes the pairing when the phone first speaks.
  const unknown = page.controller.ask(startRequest(deviceId, { agent: "echo", project: "proj" }));
  assert.equal(await ended(page, unknown), "refused unknown_project");
  const { name } = await stack.echo();
  await page.lists(name);
  const start = await until(
    "what may be started",
    () =>
      page.store.get().details.get(deviceId)?.start?.projects.length === 1 &&
      page.store.get().details.get(deviceId)?.start,
  );
  assert.deepEqual(start.projects, [{ project: "proj", directory: stack.sandbox.project }]);

  await page.send(name, "xyzzy on the screen");
  const line = () => page.store.get().details.get(deviceId)?.lines?.[name];
  const firstLine = await until("the last line", () => /sha256/.test(line() ?? "") && line());

  const { sandbox } = stack;
  const silent = "stty -echo; echo Password:; exec cat > /dev/null";
  await sandbox.tmux("new-session", "-d", "-s", "svc-asks", silent);
  const asked = () => page.store.get().details.get(deviceId)?.lines?.["svc-asks"];
  await until("the prompt on the card", () => asked() === "Password:");
  await sandbox.tmux("send-keys", "-t", "=svc-asks:", "hunter2", "Enter");
  await page.send(name, "plugh on the screen");
  const nextLine = await until("the next line", () => line() !== firstLine && line());
  assert.equal(asked(), "Password:", "what is typed without an echo is never reported");
  await sandbox.tmux("kill-session", "-t", "=svc-asks");

  const session = () =>
    page.store.get().devices?.[0]?.sessions.find((entry) => entry.name === name && entry.state !== "exited");
  const shown = await until("the session", session);
  const host = { deviceId, host: "", online: true, lastSeen: 0 };
  const stale = { ...shown, createdAt: 1_000 };
  assert.equal(
    await ended(page, page.controller.ask(endRequest({ ...host, entry: stale }))),
    "refused session_changed",
  );
  assert.equal(await ended(page, page.controller.ask(endRequest({ ...host, entry: shown }))), "submitted");
  assert.equal(await sessionsOf(tapped), "");
  await until("the session to leave the list", () => session() === undefined);

  const id = page.controller.ask(startRequest(deviceId, { agent: "echo", ...start.projects[0]! }));
  assert.equal(await ended(page, id), "submitted");
  assert.equal((await sessionsOf(tapped)).trim(), name);
  const seen = tap.seen();
  assert.ok(![firstLine, nextLine, "Password:"].some((text) => seen.includes(text)), "the relay read a line");
  assert.ok(!/"projects":\[\{|"end \d+"|hunter2/.test(seen), "the relay read what was sealed");
});

Deno.test("a host that does not allow it ends nothing [type-end]", async () => {
  await using tapped = await tappedStack({ requireEncryption: "off" });
  const { stack } = tapped;
  const { name } = await stack.echo();
  const { receipt } = await stack.send(name, "end 1", { type: "agent.end" });
  assert.deepEqual([receipt.state, receipt.reason], ["refused", "end_not_allowed"]);
  assert.equal((await sessionsOf(tapped)).trim(), name);
});
