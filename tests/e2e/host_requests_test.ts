/** A paired phone starts an agent and ends it, over a relay that records everything. */
import assert from "node:assert/strict";
import { httpBaseFromWs } from "../../src/client/addresses.ts";
import { endRequest, muteRequest, startRequest, unmuteRequest } from "../../src/phone/requests.ts";
import { PagePhone } from "../helpers/page_phone.ts";
import { type Tapped, tappedStack } from "../helpers/tapped_stack.ts";
import { runSvc } from "../helpers/program.ts";
import { until } from "../helpers/until.ts";

/** Resolves with the final state and reason of the request. */
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
  // The host completes the pairing when the phone first sends something.
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

Deno.test("a paired phone mutes a project, which then refuses messages, and unmutes it, but not what svc mute muted [ux-mute, type-mute, det-muted]", async () => {
  await using tapped = await tappedStack();
  const { stack: { deviceId, sandbox }, stack, tap } = tapped;
  using page = new PagePhone({ baseUrl: httpBaseFromWs(tapped.wsUrl) });
  await page.open(await stack.pairLink());
  await page.controller.confirmPairing();
  const { name } = await stack.echo();
  await page.lists(name);
  const device = () => page.store.get().devices?.find((one) => one.deviceId === deviceId);
  const entry = () => device()?.sessions.find((one) => one.name === name);
  const ask = async (muted: boolean): Promise<string> => {
    const shown = await until("the session", entry);
    const session = { deviceId, host: "", online: true, lastSeen: 0, entry: shown };
    return await ended(page, page.controller.ask(muteRequest(session, { muted })));
  };
  const listed = (text: string) =>
    until(
      `the muted projects to be ${text}`,
      () => JSON.stringify(page.store.get().details.get(deviceId)?.muted) === text,
    );
  assert.equal(await ask(true), "submitted");
  await listed(JSON.stringify([{ directory: sandbox.project, byPhone: true }]));
  await until("the session to be shown as muted", () => entry()?.muted);
  const refused = await page.send(name, "is anyone there");
  assert.match(page.wordsOf(refused), /The project is muted/);
  assert.equal(await ask(false), "submitted");
  await listed("[]");
  assert.match(page.wordsOf(await page.send(name, "hello again")), /^Submitted/);

  assert.equal(await ask(true), "submitted");
  assert.equal((await runSvc(sandbox, ["mute"])).code, 0);
  await listed(JSON.stringify([{ directory: sandbox.project }]));
  assert.equal(await ask(false), "refused muted_at_computer");
  const unmute = unmuteRequest(deviceId, sandbox.project);
  assert.equal(await ended(page, page.controller.ask(unmute)), "refused muted_at_computer");
  assert.ok(!/"(un)?mute [\d/]/.test(tap.seen()), "the relay read what was sealed");
});

Deno.test("a host that does not allow ending agents ends none [type-end]", async () => {
  await using tapped = await tappedStack({ requireEncryption: "off" });
  const { stack } = tapped;
  const { name } = await stack.echo();
  const { receipt } = await stack.send(name, "end 1", { type: "agent.end" });
  assert.deepEqual([receipt.state, receipt.reason], ["refused", "end_not_allowed"]);
  assert.equal((await sessionsOf(tapped)).trim(), name);
});
