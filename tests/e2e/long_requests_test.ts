/**
 * Generated requests for permission, from the agent's hook through listener and relay to the page's own code and
 * back: shown in full or not allowed.
 */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { requestText } from "../../src/agents/hooks.ts";
import { sha256Hex, utf8Length } from "../../src/async/encodings.ts";
import type { QuestionItem } from "../../src/phone/inbox.ts";
import { TerminalStream } from "../../src/phone/terminal_stream.ts";
import { type FetchedRequest, fetchRequest } from "../../src/phone/whole_request.ts";
import type { Answer, CardData } from "../../src/protocol/ask.ts";
import { BODY_MAX_BYTES, CARD_REQUEST_MAX_BYTES } from "../../src/protocol/limits.ts";
import { shownDigest } from "../../src/protocol/shown_digest.ts";
import { PagePhone } from "../helpers/page_phone.ts";
import { runSvc } from "../helpers/program.ts";
import { randomNumbers } from "../helpers/random_numbers.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

const SEED = 20_261_122;
/** Three of each kind; 100 of each in `deno task prove cards`. */
const REQUESTS = Number(Deno.env.get("SVC_LONG_REQUESTS") ?? 30);
const AT_ONCE = 3;
const MEGABYTE = 1_048_576;

type Random = () => number;
type Approval = Extract<CardData, { kind: "approval" }>;

const below = (random: Random, limit: number): number => Math.floor(random() * limit);
const oneOf = (random: Random, text: string): string => {
  const characters = Array.from(text);
  return characters[below(random, characters.length)] ?? "";
};
const many = (random: Random, length: number, from: string): string =>
  Array.from({ length }, () => oneOf(random, from)).join("");
/** Letters from which no word on the list of forbidden commands can be formed. */
const WORDS = "jkqwxyz ";
const CONTROLS = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join("") +
  Array.from({ length: 33 }, (_, code) => String.fromCharCode(127 + code)).join("");

/** What an agent may ask to write or to run; none of it is on the list of forbidden commands. */
const KINDS: Readonly<Record<string, (random: Random) => string>> = {
  short: (random) => `echo ${many(random, 20, WORDS)}`,
  "diff of 5,000 lines": (random) =>
    Array.from({ length: 5_000 }, (_, line) => `${oneOf(random, "+- ")} ${line} ${many(random, 40, WORDS)}`)
      .join("\n"),
  binary: (random) => many(random, 20_000 + below(random, 60_000), `${CONTROLS}0123456789xyz`),
  CJK: (random) => many(random, 6_000 + below(random, 200_000), "漢字仮名交文한국어テスト。\n"),
  bidirectional: (random) =>
    many(random, 9_000 + below(random, 40_000), "אבגدهו xyz\u202e\u202d\u2066\u2069\u200f\n"),
  ANSI: (random) =>
    Array.from({ length: 3_000 }, () => `\u001b[${below(random, 108)}m${many(random, 20, WORDS)}\u001b[0m\r`)
      .join("\n"),
  "1 MB": (random) => `${many(random, 1_000, WORDS)}\n`.repeat(MEGABYTE / 1_001).padEnd(MEGABYTE, "x"),
  "one line": (random) => `${many(random, 997, WORDS)} `.repeat(100 + below(random, 700)),
  astral: (random) =>
    many(random, 9_000 + below(random, 20_000), "🙂👩\u200d🔬e\u0301\u00a0\u3000\u2028\ufe0f\u{e0041}\n") +
    "\ud800",
  "over 2 MB": (random) => `${many(random, 999, WORDS)}\n`.repeat(2_098 + below(random, 1_000)),
};

interface Request {
  kind: string;
  tool: string;
  input: Record<string, unknown>;
  text: string;
  digest: string;
}

async function requestOf(
  number: number,
  { project }: { project: string },
): Promise<Request> {
  const names = Object.keys(KINDS);
  const kind = names[number % names.length] ?? "";
  const content = `${number} ${KINDS[kind]?.(randomNumbers(SEED + number))}`;
  const [tool, input] = kind === "short"
    ? ["Bash", { command: content }]
    : ["Write", { file_path: `${project}/file.txt`, content }];
  const text = requestText(input);
  return { kind, tool, input, text, digest: await sha256Hex(`${tool}\n${project}\n${text}`) };
}

const NAME = /⟨U\+([0-9A-F]{4,6})⟩/g;
/** Returns a card's text with each named character replaced by the character itself. */
const unnamed = (shown: string): string =>
  shown.replace(NAME, (_name, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));

class Scene {
  readonly counts: Record<string, number> = {};
  readonly #stack: Stack;
  readonly #page: PagePhone;
  readonly #session: string;

  constructor(stack: Stack, { page, session }: { page: PagePhone; session: string }) {
    this.#stack = stack;
    this.#page = page;
    this.#session = session;
  }

  async run(request: Request, turn: number): Promise<void> {
    const asking = this.#hook(request);
    // A hook that ends before its card is shown has given up the dialog: its output and the listener's show why.
    const { push, card } = await Promise.race([
      this.#cardOf(request),
      asking.then(async (ended) => assert.fail(`no card for ${request.kind}; ${await this.#printed(ended)}`)),
    ]);
    const shown = await this.#shown(push, card);
    if (shown === undefined) {
      assert.equal(request.kind, "over 2 MB");
      assert.deepEqual([card.decisions, card.withheld], [["reject"], "too_long"]);
    } else {
      assert.notEqual(card.withheld, "never_list", request.kind);
      assert.equal(unnamed(shown), request.text.replaceAll("\r\n", "\n"), "shown in full");
      assert.equal(/[^\P{C}\n\t]/u.test(shown), false, "everything is visible");
    }
    const answer = await answerOf(card, { push, shown, turn });
    await this.#page.controller.answer(push.id, answer.given);
    const ended = await asking;
    const { stdout } = ended;
    const decision = stdout === "" ? "none" : JSON.parse(stdout).hookSpecificOutput.decision.behavior;
    if (decision !== answer.expected) {
      const printed = await this.#printed(ended);
      assert.equal(decision, answer.expected, `${request.kind}, ${answer.what}; ${printed}`);
    }
    this.#count(shown === undefined ? "too long" : card.whole === undefined ? "in one push" : "fetched");
    this.#count(answer.what);
  }

  async #printed({ code, stdout, stderr }: Awaited<ReturnType<typeof runSvc>>): Promise<string> {
    const log = await Deno.readTextFile(`${this.#stack.sandbox.svcHome}/listener.log`);
    return `the hook ended with ${code}: ${stdout}${stderr}\n${log}`;
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  async #hook({ tool, input }: Request): ReturnType<typeof runSvc> {
    const { sandbox } = this.#stack;
    const call = { session_id: "s1", hook_event_name: "PermissionRequest", cwd: sandbox.project };
    return await runSvc(sandbox, ["hook", "PermissionRequest", "cc", "cards"], {
      env: { SVC_SESSION: this.#session },
      stdin: JSON.stringify({ ...call, tool_name: tool, tool_input: input }),
    });
  }

  async #cardOf({ digest, kind }: Request): Promise<{ push: QuestionItem["push"]; card: Approval }> {
    return await until(`the card (${kind})`, () => {
      for (const item of this.#page.store.get().inbox.values()) {
        if (item.kind !== "question" || item.ask.kind !== "approval") continue;
        if (item.ask.digest === digest) return { push: item.push, card: item.ask };
      }
      return undefined;
    });
  }

  /** Resolves with the shown text, or undefined if the phone cannot show all of it. */
  async #shown(push: QuestionItem["push"], card: Approval): Promise<string | undefined> {
    if (card.whole === undefined) return card.withheld === "too_long" ? undefined : push.body;
    assert.deepEqual(card.decisions, ["reject"], "the beginning alone allows nothing");
    const fetched: FetchedRequest = await fetchRequest({
      id: push.id,
      whole: card.whole,
      onProgress: () => {},
      signal: new AbortController().signal,
      session: { deviceId: push.sealedFor?.host ?? "", session: push.agentSessionName ?? "" },
      open: (name, viewer) => this.#page.controller.mirror(name, viewer, TerminalStream),
    });
    assert.equal(fetched.kind, "whole", JSON.stringify(fetched).slice(0, 200));
    return fetched.kind === "whole" ? fetched.text : undefined;
  }
}

/**
 * Allows half of them, and rejects a quarter; the other answers are those of a phone that does not have the whole text.
 */
async function answerOf(
  card: Approval,
  { push, shown, turn }: { push: QuestionItem["push"]; shown: string | undefined; turn: number },
): Promise<{ what: string; given: Answer; expected: string }> {
  const { digest, whole } = card;
  const reject: Answer = { kind: "decided", decision: "reject", digest };
  const once: Answer = { ...reject, decision: "once" };
  if (turn % 4 === 2) return { what: "rejected", given: reject, expected: "deny" };
  if (turn % 4 < 2 && shown !== undefined) {
    const proof = whole && { shown: await shownDigest(push.id, shown) };
    return { what: "allowed", given: { ...once, ...proof }, expected: "allow" };
  }
  const what = "refused";
  const expected = "none";
  if (whole === undefined) {
    const other = shown === undefined ? once : { ...once, digest: await sha256Hex(digest) };
    return { what, given: other, expected };
  }
  const [altered = "", ofAnother = ""] = await Promise.all([
    shownDigest(push.id, `${shown}x`),
    shownDigest(crypto.randomUUID(), shown ?? ""),
  ]);
  const lies = [undefined, await shownDigest(push.id, push.body ?? ""), altered, ofAnother, whole.digest];
  return { what, given: { ...once, shown: lies[turn % lies.length] }, expected };
}

Deno.test(`${REQUESTS} requests of all kinds are shown in full and bound to their digest, or cannot be allowed [card-whole, card-fetched, card-bound]`, async () => {
  await using stack = await makeStack();
  const path = `${stack.sandbox.svcHome}/config.json`;
  const config = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...config, allowRemoteApproval: "once" }));
  await stack.restartListener();
  const link = await stack.pairLink();
  using page = new PagePhone({ baseUrl: new URL(link).origin });
  await page.open(link);
  await page.controller.confirmPairing();
  const { name: session } = await stack.echo();
  await page.lists(session);
  const scene = new Scene(stack, { page, session });
  const sizes: number[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let number = next++; number < REQUESTS; number = next++) {
      const request = await requestOf(number, { project: stack.sandbox.project });
      sizes.push(utf8Length(request.text));
      await scene.run(request, Math.floor(number / Object.keys(KINDS).length) + number);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const { counts } = scene;
  assert.equal(sizes.filter((size) => size > CARD_REQUEST_MAX_BYTES).length, counts["too long"]);
  assert.ok(sizes.some((size) => size <= BODY_MAX_BYTES));
  assert.deepEqual(page.store.get().signIn.kind, "in");
  const largest = Math.max(...sizes.filter((size) => size <= CARD_REQUEST_MAX_BYTES));
  const figures = Object.entries(counts).sort().map(([what, count]) => `${count} ${what}`).join(", ");
  say(`requests, seed ${SEED}: ${sizes.length}: ${figures}; the largest shown ${largest} bytes`);
});
