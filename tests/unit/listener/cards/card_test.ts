/** What a card shows of a request and a phone may decide; long requests that are kept, and questions asked again. */
import assert from "node:assert/strict";
import type { AgentDialog, DialogCall } from "../../../../src/agents/hooks.ts";
import { CARD_SECONDS } from "../../../../src/listener/cards/cards.ts";
import { ASKED_MAX, cardContent, visible } from "../../../../src/listener/cards/card.ts";
import type { Answer } from "../../../../src/protocol/ask.ts";
import { BODY_MAX_BYTES, CARD_PART_CHARS, CARD_REQUEST_MAX_BYTES } from "../../../../src/protocol/limits.ts";
import { shownDigest } from "../../../../src/protocol/shown_digest.ts";
import { answerOf, BLUE, PHONE, QUESTION, Scene, SESSION } from "./card_bench.ts";
import type { Policy } from "../../../../src/listener/inject/policy.ts";
import { sha256Hex } from "../../../../src/async/encodings.ts";
import { Body } from "../../../../src/protocol/push.ts";

const DIRECTORY = "/work/app";

function approval(request: string, approval: Policy["approval"] = "always"): ReturnType<typeof cardContent> {
  const dialog: AgentDialog = {
    kind: "approval",
    tool: "Bash",
    request,
    decisions: ["once", "always", "reject"],
  };
  return cardContent(dialog, { policy: { approval }, directory: DIRECTORY, neverAllow: [] });
}

async function decided(request: string, allowed?: Policy["approval"]): Promise<unknown[]> {
  const content = await approval(request, allowed);
  return content?.data.kind === "approval" ? [content.data.decisions, content.data.withheld] : [];
}

Deno.test("the setting decides what a phone may do with a request [card-setting]", async () => {
  assert.equal(await approval("npm test", "none"), undefined);
  assert.deepEqual(await decided("npm test", "reject"), [["reject"], undefined]);
  assert.deepEqual(await decided("npm test", "once"), [["once", "reject"], undefined]);
  assert.deepEqual(await decided("npm test", "always"), [["once", "always", "reject"], undefined]);
});

Deno.test("a request on the list or too long to be shown can only be refused [card-never, card-whole]", async () => {
  assert.deepEqual(await decided("sudo make install"), [["reject"], "never_list"]);
  const long = "é".repeat(CARD_REQUEST_MAX_BYTES / 2 + 1);
  assert.deepEqual(await decided(long), [["reject"], "too_long"]);
  const content = await approval(long);
  assert.ok(content?.body.endsWith("\n…") && Body.safeParse(content.body).success);
  assert.deepEqual([content?.text, content && "whole" in content.data], [undefined, false]);
  assert.deepEqual(await decided("x".repeat(BODY_MAX_BYTES)), [["once", "always", "reject"], undefined]);
});

Deno.test("the beginning of a request longer than a push allows nothing, and a phone that has all of it may decide [card-fetched, card-never]", async () => {
  const long = async (request: string, allowed?: Policy["approval"]): Promise<unknown[]> => {
    const content = await approval(request, allowed);
    assert.ok(content?.data.kind === "approval" && content.body.endsWith("\n…"));
    assert.equal(content.text, visible(request));
    const { decisions, withheld, whole } = content.data;
    assert.deepEqual([whole?.length, whole?.digest], [content.text.length, await sha256Hex(content.text)]);
    return [decisions, withheld, whole?.decisions];
  };
  const diff = "+ a line\u202e\n".repeat(5_000);
  assert.deepEqual(await long(diff), [["reject"], "too_long", ["once", "always", "reject"]]);
  assert.deepEqual(await long(diff, "once"), [["reject"], "too_long", ["once", "reject"]]);
  assert.deepEqual(await long(diff, "reject"), [["reject"], "too_long", ["reject"]]);
  assert.deepEqual(await long(`${diff}sudo make`), [["reject"], "never_list", ["reject"]]);
});

Deno.test("everything that cannot be seen is named, and the text is a valid body [card-whole]", async () => {
  const request = "echo \u001b[2Ka\u202eb\u200bc\r\nd\u0007\ud800 e\u{e0041}\ttab";
  const content = await approval(request);
  assert.equal(
    content?.body,
    "echo ⟨U+001B⟩[2Ka⟨U+202E⟩b⟨U+200B⟩c\nd⟨U+0007⟩⟨U+D800⟩ e⟨U+E0041⟩\ttab",
  );
  assert.ok(Body.safeParse(content?.body).success);
  assert.ok(content?.data.kind === "approval" && content.data.unusual.includes("hidden_characters"));
  const plain = await approval("echo a\r\nüñ 漢字 🙂\tb");
  assert.ok(plain?.data.kind === "approval");
  assert.deepEqual(plain.data.unusual, []);
  assert.equal(visible("a\rb"), "a\nb");
});

Deno.test("characters that no font draws, and marks piled on one another, are named [card-whole]", async () => {
  const content = await approval("a\u2065b\ufff0c\u{e0fff}d\uffff\ufffc\ue000\u{1d159}");
  assert.equal(
    content?.body,
    "a⟨U+2065⟩b⟨U+FFF0⟩c⟨U+E0FFF⟩d⟨U+FFFF⟩⟨U+FFFC⟩⟨U+E000⟩⟨U+1D159⟩",
  );
  const piled = await approval(`e${"\u0301".repeat(6)} ок̆ ถั่ว`);
  assert.equal(piled?.body, `e${"\u0301".repeat(4)}⟨U+0301⟩⟨U+0301⟩ ок̆ ถั่ว`);
  assert.ok(piled?.data.kind === "approval" && piled.data.unusual.includes("hidden_characters"));
});

Deno.test("characters that only look like a space or a line break in a request are named [card-whole]", async () => {
  const content = await approval("rm\u00a0a\u2800b\u3000c # d\re\r\nf");
  assert.equal(content?.body, "rm⟨U+00A0⟩a⟨U+2800⟩b⟨U+3000⟩c # d⟨U+000D⟩e\nf");
  assert.ok(content?.data.kind === "approval" && content.data.unusual.includes("hidden_characters"));
});

Deno.test("a tool or a directory whose name is cut can only be refused [card-whole]", async () => {
  const about = async (tool: string, directory: string): Promise<unknown> => {
    const dialog: AgentDialog = { kind: "approval", tool, request: "ls", decisions: ["once", "reject"] };
    const content = await cardContent(dialog, { policy: { approval: "once" }, directory, neverAllow: [] });
    return content?.data.kind === "approval" && content.data.withheld;
  };
  assert.equal(await about("x".repeat(200), `/${"y".repeat(999)}`), undefined);
  assert.equal(await about("x".repeat(201), DIRECTORY), "too_long");
  assert.equal(await about("Bash", `/${"y".repeat(1_000)}`), "too_long");
});

Deno.test("the host's own patterns are also matched against the tool's name [card-never]", async () => {
  const dialog: AgentDialog = {
    kind: "approval",
    tool: "mcp__prod__deploy",
    request: "name:\n  x",
    decisions: ["once", "reject"],
  };
  const facts = { policy: { approval: "once" }, directory: DIRECTORY } as const;
  const content = await cardContent(dialog, { ...facts, neverAllow: [/mcp__prod/iu] });
  assert.ok(content?.data.kind === "approval");
  assert.deepEqual([content.data.decisions, content.data.withheld], [["reject"], "never_list"]);
});

Deno.test("long lines and paths outside the project are marked [card-whole]", async () => {
  const unusual = async (request: string): Promise<readonly string[]> => {
    const content = await approval(request);
    return content?.data.kind === "approval" ? content.data.unusual : ["no card"];
  };
  assert.deepEqual(await unusual("x".repeat(2_001)), ["long_lines"]);
  assert.deepEqual(await unusual("cat /etc/hosts"), ["outside_project"]);
  assert.deepEqual(await unusual("cat ../other/file"), ["outside_project"]);
  assert.deepEqual(await unusual("cat /work/app2/file"), ["outside_project"]);
  assert.deepEqual(await unusual("cat /work/app/src/a.ts src/b.ts > /dev/null"), []);
});

Deno.test("the digest differs for every other request, tool or directory [card-bound]", async () => {
  const digestOf = async (request: string, tool: string, directory: string): Promise<string> => {
    const dialog: AgentDialog = { kind: "approval", tool, request, decisions: ["reject"] };
    const content = await cardContent(dialog, { policy: { approval: "reject" }, directory, neverAllow: [] });
    return content?.data.kind === "approval" ? content.data.digest : assert.fail("no card");
  };
  const digests = await Promise.all([
    digestOf("ls", "Bash", "/a"),
    digestOf("ls ", "Bash", "/a"),
    digestOf("ls", "Shell", "/a"),
    digestOf("ls", "Bash", "/b"),
    digestOf("ls\u200b", "Bash", "/a"),
    digestOf("ls⟨U+200B⟩", "Bash", "/a"),
  ]);
  assert.equal(new Set(digests).size, digests.length);
});

Deno.test("questions too long for a card stay at the computer", async () => {
  const facts = { policy: { approval: "none" }, directory: DIRECTORY, neverAllow: [] } as const;
  const question = (description: string): AgentDialog => ({
    kind: "questions",
    questions: [{ text: "Which?", options: [{ label: "one", description }, { label: "two" }] }],
  });
  const content = await cardContent(question("the\u200bfirst"), facts);
  assert.ok(content?.data.kind === "questions");
  assert.equal(content.data.questions[0]?.options[0]?.description, "the⟨U+200B⟩first");
  assert.equal(await cardContent(question("x".repeat(8_000)), facts), undefined);
});

Deno.test("a long request is kept for phones to fetch while its card is open, for its session, at a limited rate and in a bounded amount [card-fetched]", async () => {
  const scene = await Scene.make();
  const request = "+ a line\n".repeat(200_000);
  const long: DialogCall["dialog"] = {
    kind: "approval",
    tool: "Write",
    request,
    decisions: ["once", "reject"],
  };
  const asked = scene.ask(long);
  const { id, card } = await scene.card();
  assert.ok(card.kind === "approval" && card.whole !== undefined);
  const asker = { session: SESSION, phone: PHONE };
  const { length } = card.whole;
  let text = "";
  while (text.length < length) {
    text += scene.cards.part({ type: "card.part", card: id, at: text.length }, asker)?.text;
  }
  assert.equal(text, request);
  const part = (asking: Partial<typeof asker>, of = id): string | undefined =>
    scene.cards.part({ type: "card.part", card: of, at: 0 }, { ...asker, ...asking })?.text;
  assert.deepEqual([part({ session: "svc-other" }), part({}, crypto.randomUUID())], ["", ""]);
  while (part({}) !== undefined);
  assert.equal(part({ phone: "dev_phone_2" })?.length, CARD_PART_CHARS);
  scene.clock.advance(1_000);
  assert.equal(part({})?.length, CARD_PART_CHARS);
  // There is room for three more; the others can only be refused.
  const others: Promise<unknown>[] = [];
  const wholes: boolean[] = [];
  for (const place of [1, 2, 3, 4, 5]) {
    others.push(scene.ask(long));
    const { card: one } = await scene.card(place);
    wholes.push(one.kind === "approval" && one.whole !== undefined);
  }
  assert.deepEqual(wholes, [true, true, true, false, false]);
  const once: Answer = { kind: "decided", decision: "once", digest: card.digest };
  const reasons: unknown[] = [];
  for (
    const shown of [undefined, "", await shownDigest(id, text.slice(1)), await shownDigest(card.digest, text)]
  ) {
    reasons.push((await scene.answer(id, { ...once, shown })).reason);
  }
  assert.deepEqual(reasons, Array.from(reasons, () => "invalid_body"));
  const outcome = scene.answer(id, { ...once, shown: await shownDigest(id, text) });
  (await asked)?.handedOver(true);
  // Even while it is unknown whether the agent has received it.
  assert.equal(part({ phone: "dev_phone_2" }), "");
  assert.equal((await scene.ended(outcome)).state, "submitted");
  scene.cards.stop();
  await Promise.all(others);
});

Deno.test("concurrent requests take no more room than consecutive ones [card-fetched]", async () => {
  const scene = await Scene.make();
  const request = "+ a line\n".repeat(200_000);
  const long: DialogCall["dialog"] = {
    kind: "approval",
    tool: "Write",
    request,
    decisions: ["once", "reject"],
  };
  const asked = Array.from({ length: 6 }, () => scene.ask(long));
  const cards = await Promise.all(asked.map((_, place) => scene.card(place)));
  const wholes = cards.filter(({ card }) => card.kind === "approval" && card.whole !== undefined);
  assert.deepEqual([wholes.length, cards.length], [4, 6]);
  scene.cards.stop();
  await Promise.all(asked);
});

Deno.test("a question closed by something that no paired phone has sealed is asked again, and after a few times at the computer [card-reopened]", async () => {
  const scene = await Scene.make();
  const asked = scene.ask(QUESTION);
  const closed = { id: "", type: "ask.answer", from: "dev_x", createdAt: 0, expiresAt: 0 };
  const { id: first } = await scene.card(0);
  scene.clock.advance(100_000);
  scene.cards.refused({ ...closed, inReplyTo: first }, { reason: "unsealable" });
  const { id, card } = await scene.card(1);
  assert.equal(card.timeoutSeconds, CARD_SECONDS - 100);
  assert.deepEqual([scene.sessionOf(first), scene.sessionOf(id)], [undefined, SESSION]);
  assert.equal((await scene.answer(first, BLUE)).reason, "dialog_gone");
  const outcome = scene.answer(id, BLUE);
  (await asked)?.handedOver(true);
  assert.deepEqual(answerOf(await asked), { kind: "answers", answers: [{ options: [1] }] });
  assert.equal((await scene.ended(outcome)).state, "submitted");

  const again = scene.ask(QUESTION);
  for (let place = 2; place < 2 + ASKED_MAX; place++) {
    const { id: inReplyTo } = await scene.card(place);
    scene.cards.refused({ ...closed, inReplyTo }, {
      reason: place % 2 === 0 ? "counter_used" : "sealed_required",
    });
  }
  assert.equal(await again, undefined);
  assert.equal(scene.sent.length, 2 + ASKED_MAX);
  assert.equal(scene.withdrawn.at(-1), scene.sent.at(-1)?.id);
});

Deno.test("a question is asked again only while a paired phone could read it [card-reopened, sec-passive-relay]", async () => {
  const scene = await Scene.make();
  const asked = scene.ask(QUESTION);
  const { id: inReplyTo } = await scene.card(0);
  scene.isPaired = false;
  const closed = { id: "", type: "ask.answer", from: "dev_x", createdAt: 0, expiresAt: 0 };
  scene.cards.refused({ ...closed, inReplyTo }, { reason: "sealed_required" });
  assert.equal(await asked, undefined, "the dialog opens at the computer");
  assert.equal(scene.sent.length, 1);
});
