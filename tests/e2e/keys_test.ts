/** Live keys from a phone into real panes: exactly once, in order, and with the same guard as messages. */
import assert from "node:assert/strict";
import type { KeyInput } from "../../src/protocol/key_input.ts";
import { canonicalDigest } from "../../src/protocol/canonical.ts";
import { createRelayApi } from "../../src/client/api.ts";
import { KEYS_PER_SECOND } from "../../src/protocol/limits.ts";
import { controlEcho, promptsIn, readTranscript } from "../helpers/agents_echo.ts";
import { attachClient } from "../helpers/attached_client.ts";
import type { MirrorPhone } from "../helpers/mirror_phone.ts";
import { makeMirrorStage, type MirrorStage } from "../helpers/mirror_stage.ts";
import { runSvc } from "../helpers/program.ts";
import { until } from "../helpers/until.ts";

const text = (text: string): KeyInput => ({ type: "text", text });
const key = (key: string): KeyInput => ({ type: "key", key });
const paste = (text: string): KeyInput => ({ type: "paste", text });

/** Resolves with the newest reported state of the key with this number, or of a later one. */
const said = (phone: MirrorPhone, sequence: number): Promise<string> =>
  until(`the state of key ${sequence}`, () => {
    const found = phone.keyStates().findLast((one) => one.sequence >= sequence);
    return found && [found.state, found.reason].filter((part) => part !== undefined).join(" ");
  });

async function startEcho(
  stage: MirrorStage,
): Promise<{ session: string; prompts(): Promise<string[]>; control(op: "permit" | "deny"): Promise<void> }> {
  const { sandbox, svc } = stage.stack;
  const [transcript, socket] = [`${sandbox.root}/prompts.jsonl`, `${sandbox.root}/echo.sock`];
  const started = await svc("--detach", "echo", "--transcript", transcript, "--control", socket);
  assert.equal(started.code, 0, started.stderr);
  return {
    session: started.stdout.trim(),
    prompts: async () => promptsIn(await readTranscript(transcript)),
    control: (op) => controlEcho(socket, { op }),
  };
}

/** Runs in a pane that shows every received byte in octal. */
const RECORDER = ["sh", "-c", "stty -icanon -echo -isig -icrnl -ixon; exec od -An -v -w1 -t o1"];

/** Starts a session with RECORDER; resolves once its shell has executed it. */
async function startRecorder(stage: MirrorStage): Promise<string> {
  const session = await stage.start(RECORDER, { cols: 80, rows: 50 });
  const program = ["display-message", "-p", "-t", `=${session}:`, "#{pane_current_command}"];
  await until("the recorder", async () => (await stage.tmux(...program)).trim() === "od");
  return session;
}

async function bytesOf(stage: MirrorStage, session: string): Promise<number[]> {
  const shown = await stage.tmux("capture-pane", "-p", "-S", "-", "-t", `=${session}:`);
  return shown.trim().split(/\s+/).filter((word) => /^[0-7]{3}$/.test(word)).map((word) => parseInt(word, 8));
}

Deno.test("keys: text, an input method's text, keys and pastes reach the agent, also after a pulse [spec-live-typing, spec-key-row]", async () => {
  await using stage = await makeMirrorStage();
  const { session, prompts } = await startEcho(stage);
  const phone = await stage.watch(session);
  await phone.shows("❯");
  phone.type(text("hallo"), key("BSpace"), text("o 漢字 👨‍👩‍👧"), key("Enter"));
  await until("the first prompt", async () => (await prompts()).length === 1);
  phone.type(paste("two\nlines; -t \\"), key("Enter"));
  await until("the second prompt", async () => (await prompts()).length === 2);
  await until("the first pulse", () => phone.statuses.some(({ pulse }) => pulse === 1));
  phone.type(text("after it"), key("Enter"));
  await until("the third prompt", async () => (await prompts()).length === 3);
  assert.deepEqual(await prompts(), ["hallo 漢字 👨‍👩‍👧", "two\nlines; -t \\", "after it"]);
  assert.equal(await said(phone, 7), "typed");
});

Deno.test("keys: each named key is the byte sequence a terminal sends [spec-key-row]", async () => {
  await using stage = await makeMirrorStage();
  const session = await startRecorder(stage);
  const phone = await stage.watch(session);
  const sent: [string, string][] = [
    ["Escape", "\u001b"],
    ["Tab", "\t"],
    ["BTab", "\u001b[Z"],
    ["Enter", "\r"],
    ["Up", "\u001b[A"],
    ["Left", "\u001b[D"],
    ["C-c", "\u0003"],
    ["C-z", "\u001a"],
    ["M-b", "\u001bb"],
    ["BSpace", "\u007f"],
    ["Home", "\u001b[1~"],
    ["NPage", "\u001b[6~"],
  ];
  phone.type(...sent.map(([name]) => key(name)), text("; ~ # é"));
  const expected = [...new TextEncoder().encode(sent.map(([, bytes]) => bytes).join("") + "; ~ # é")];
  const got = await until("every byte", async () => {
    const bytes = await bytesOf(stage, session);
    return bytes.length >= expected.length && bytes;
  });
  assert.deepEqual(got, expected);
});

Deno.test("keys: hundreds in a burst arrive once each and in order, the rest at 200 a second", async () => {
  await using stage = await makeMirrorStage();
  const session = await startRecorder(stage);
  const phone = await stage.watch(session);
  const sent = Array.from({ length: KEYS_PER_SECOND + 150 }, (_, at) => String.fromCharCode(0x22 + at % 93))
    .join("");
  phone.type(...[...sent].map(text));
  const got = await until("every key", async () => {
    const bytes = await bytesOf(stage, session);
    return bytes.length >= sent.length && bytes;
  });
  assert.equal(String.fromCharCode(...got), sent);
  assert.equal(await said(phone, sent.length - 1), "typed");
});

Deno.test("keys: nothing reaches a shell, and the phone is informed [inj-2-guard]", async () => {
  await using stage = await makeMirrorStage();
  const session = await stage.start(["bash", "--norc"]);
  const phone = await stage.watch(session);
  phone.type(text("echo reached"), key("Enter"));
  assert.equal(await said(phone, 1), "refused shell_in_pane");
  phone.type(paste("echo reached\n"));
  assert.equal(await said(phone, 2), "refused shell_in_pane");
  assert.doesNotMatch(await stage.stack.sandbox.screen(session), /reached/);
});

Deno.test("keys: held at a permission dialog, typed when it is gone [inj-dialog-keys]", async () => {
  await using stage = await makeMirrorStage();
  const { session, prompts, control } = await startEcho(stage);
  const phone = await stage.watch(session);
  await phone.shows("❯");
  await control("permit");
  await phone.shows("Enter to confirm");
  phone.type(key("Enter"), text("after the dialog"));
  assert.equal(await said(phone, 0), "held dialog_open");
  assert.match(
    await stage.stack.sandbox.screen(session),
    /Enter to confirm/,
    "not approved",
  );
  await control("deny");
  await phone.shows("after the dialog");
  assert.equal(await said(phone, 1), "typed");
  assert.deepEqual(await prompts(), []);
});

Deno.test("keys: one for a dialog does not submit what the local user writes once they have closed it [inj-dialog-keys]", async () => {
  await using stage = await makeMirrorStage();
  const { sandbox } = stage.stack;
  const { session, prompts, control } = await startEcho(stage);
  const phone = await stage.watch(session);
  await phone.shows("❯");
  using client = await attachClient(sandbox, { session });
  await control("permit");
  await phone.shows("Enter to confirm");
  phone.type(key("Enter"));
  assert.equal(await said(phone, 0), "held dialog_open");
  await client.press("\x1b");
  // Together with the Escape tmux would read the first letter as Alt with it.
  await until("the dialog's end", async () => !(await sandbox.screen(session)).includes("Enter to confirm"));
  await client.press("half a prompt");
  await until("the end of the key", async () => await said(phone, 0) === "refused desk_busy");
  await phone.shows("❯ half a prompt");
  assert.deepEqual(await prompts(), []);
});

Deno.test("keys: a key that waits for a message is not typed once its phone has disconnected [inj-keys-late]", async () => {
  await using stage = await makeMirrorStage();
  const session = await stage.start(["cat"]);
  const phone = await stage.watch(session);
  const screen = (): Promise<string> => stage.stack.sandbox.screen(session);
  const go = `${stage.stack.sandbox.root}/go`;
  await stage.tmux(
    "set-hook",
    "-g",
    "after-send-keys",
    `run-shell "until test -e ${go}; do sleep 0.02; done"`,
  );
  const sent = stage.stack.send(session, "the message");
  await until("its text", async () => (await screen()).includes("the message"));
  await stage.tmux("set-hook", "-gu", "after-send-keys");
  // The listener answers at once to an input that is not a key.
  phone.type(text("a late key"), text("\u0001"));
  assert.equal(await said(phone, 1), "refused invalid_body");
  phone[Symbol.dispose]();
  const mirrors = async (): Promise<boolean> =>
    (await stage.tmux("list-clients", "-F", "#{client_flags}")).split("\n").some((flags) =>
      flags !== "" && !flags.includes("no-output")
    );
  await until("the end of the mirror", async () => !await mirrors());
  await Deno.writeTextFile(go, "");
  await sent;
  // Its turn comes after every earlier key.
  await stage.stack.send(session, "another message");
  await until("the other message", async () => (await screen()).includes("another message"));
  assert.doesNotMatch(await screen(), /late/);
});

Deno.test("keys: ! is not typed at the start of an input line, and a muted project gets none [inj-shell-escape]", async () => {
  await using stage = await makeMirrorStage();
  const { session } = await startEcho(stage);
  const phone = await stage.watch(session);
  await phone.shows("❯");
  phone.type(text("!"));
  assert.equal(await said(phone, 0), "refused shell_escape");
  phone.type(text("well"));
  await phone.shows("❯ well");
  phone.type(text("!"));
  await phone.shows("❯ well!");
  const { sandbox } = stage.stack;
  await runSvc(sandbox, ["mute", sandbox.project]);
  phone.type(text("unheard"));
  assert.equal(await said(phone, 3), "refused muted");
});

Deno.test("keys: a local user does not hold them", async () => {
  await using stage = await makeMirrorStage();
  const { session } = await startEcho(stage);
  using client = await attachClient(stage.stack.sandbox, { session, cols: 100, rows: 30 });
  const phone = await stage.watch(session);
  await phone.shows("❯");
  await stage.keys(session, "draft ");
  phone.type(text("goes on"));
  await phone.shows("draft goes on");
  assert.ok(client);
});

Deno.test("keys: the audit log has their digest and length, never the text [ls-audit]", async () => {
  await using stage = await makeMirrorStage();
  const { session } = await startEcho(stage);
  const { sandbox } = stage.stack;
  const phone = await stage.watch(session);
  await phone.shows("❯");
  phone.type(...[..."secret"].map(text));
  await phone.shows("secret");
  phone[Symbol.dispose]();
  const path = `${sandbox.svcHome}/audit.jsonl`;
  const line = await until("the audit", async () => (await Deno.readTextFile(path).catch(() => "")).trim());
  const { digest, length, outcome, device, session: where } = JSON.parse(line);
  assert.deepEqual([digest, length, outcome, where], [
    await canonicalDigest("secret"),
    6,
    "keys typed",
    session,
  ]);
  assert.match(device, /^dev_/);
  assert.doesNotMatch(line, /secret/);
});

Deno.test("keys: a read-only API key can watch and cannot type", async () => {
  await using stage = await makeMirrorStage();
  const { session } = await startEcho(stage);
  const { svc, sandbox, url } = stage.stack;
  const data = `${sandbox.svcHome}/server`;
  const made = await svc(
    "keys",
    "create",
    "--name",
    "reader",
    "--scope",
    "push:read",
    "--data",
    data,
    "--json",
  );
  const { key: apiKey } = JSON.parse(made.stdout);
  const phone = await stage.watch(session, { apiKey });
  await phone.shows("❯");
  phone.type(text("unheard"));
  const api = createRelayApi({ baseUrl: url, apiKey: stage.stack.apiKey });
  const strays = async (): Promise<string> => {
    const answer = await fetch(`${api.baseUrl}/metrics`);
    return /stray\S* (\d+)/.exec(await answer.text())?.[1] ?? "";
  };
  await until("the relay to drop it", async () => Number(await strays()) > 0);
  assert.deepEqual(phone.keyStates(), []);
});
