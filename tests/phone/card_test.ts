/** Cards in a real browser: an agent's own questions and requests for permission, answered on a paired phone. */
import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { until } from "../helpers/until.ts";
import { type Card, cardOf, DIGEST, SESSION, tapStill, withCards } from "./card_scene.ts";

const DATABASE: Card = {
  kind: "questions",
  questions: [{
    heading: "Database",
    text: "Which database shall the service use?",
    options: [
      { label: "SQLite", description: "One file, no server. Enough for one machine." },
      { label: "PostgreSQL", description: "A server of its own, for several machines." },
    ],
    freeText: true,
  }],
};

const SEVERAL: Card = {
  kind: "questions",
  questions: [
    {
      heading: "Tests",
      text: "Which suites shall run?",
      multiple: true,
      options: [
        { label: "unit", description: "Seconds." },
        { label: "e2e", description: "Minutes." },
        { label: "phone" },
      ],
    },
    { text: "Tabs or spaces?", options: [{ label: "Tabs" }, { label: "Spaces" }], freeText: true },
    { text: "What shall the branch be called?", options: [], freeText: true },
  ],
};

const DIFF = Array.from({ length: 60 }, (_, line) => `+ line ${line + 1} of the change`).join("\n");

function approval(changed: Partial<Extract<Card, { kind: "approval" }>> = {}): Card {
  return {
    kind: "approval",
    tool: "Bash",
    directory: "/home/user/demo",
    digest: DIGEST,
    decisions: ["once", "always", "reject"],
    unusual: [],
    ...changed,
  };
}

/** Scrolls as a person reads: the beginning first, then the end. */
async function scrollToEnd(request: Locator): Promise<void> {
  for (const edge of [request.locator(".edge").first(), request.locator(".edge").last()]) {
    await edge.scrollIntoViewIfNeeded();
    await edge.evaluate((element) =>
      new Promise<void>((done) => {
        const observer = new IntersectionObserver(([entry]) => {
          if (entry?.isIntersecting !== true) return;
          observer.disconnect();
          done();
        });
        observer.observe(element);
      })
    );
  }
}

Deno.test("a question with one answer is answered by one tap; the host's receipt says that the agent has taken it [card-shown, card-outcome]", () =>
  withCards(async ({ page, phone, ask, answerTo, prove }) => {
    const id = await ask(DATABASE);
    const card = cardOf(page, id);
    await card.getByText("Enough for one machine.").waitFor();
    await phone.shoot("card-question");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await page.goto(new URL("#/inbox", page.url()).href);
    await tapStill(card, /PostgreSQL/);
    const { push, answer } = await answerTo(id);
    assert.deepEqual(answer, { kind: "answers", answers: [{ options: [1] }] });
    await card.getByText("PostgreSQL").waitFor();
    await card.getByText("Being delivered to the agent").waitFor();
    await prove(push, { outcome: "delivered", final: false });
    await card.getByText("On the host").waitFor();
    await prove(push, { outcome: "submitted" });
    await card.getByText("The agent has taken it").waitFor();
    await page.reload();
    await card.getByText("The agent has taken it").waitFor();
    assert.match(await card.innerText(), /Your answer[^]*PostgreSQL/);
    assert.equal(await card.getByRole("button").count(), 0);
    await phone.shoot("card-answered");
    assert.deepEqual([await phone.violations(), phone.strangers, phone.faults], [[], [], []]);
  }));

Deno.test("an answer in own words can be typed at once: its field gets the focus of the button that it replaces [card-shown, ux-keyboard]", () =>
  withCards(async ({ page, ask, answerTo }) => {
    const id = await ask(DATABASE);
    const card = cardOf(page, id);
    await card.getByRole("button", { name: "Answer in your own words" }).tap();
    await card.getByRole("textbox").waitFor();
    await page.keyboard.type("neither");
    await tapStill(card, /^Send/);
    assert.deepEqual((await answerTo(id)).answer, {
      kind: "answers",
      answers: [{ options: [], text: "neither" }],
    });
  }));

Deno.test("several questions are answered together, with several choices and own words, and survive a visit to the terminal [card-shown]", () =>
  withCards(async ({ page, phone, ask, answerTo }) => {
    const id = await ask(SEVERAL);
    const card = cardOf(page, id);
    await card.getByRole("checkbox", { name: "unit" }).check();
    await card.getByRole("checkbox", { name: "phone" }).check();
    const send = card.getByRole("button", { name: "Send answer" });
    assert.equal(await send.isDisabled(), true);
    await card.getByRole("radio", { name: "Tabs" }).check();
    await card.getByRole("radio", { name: "In your own words" }).check();
    assert.equal(await card.getByRole("radio", { name: "Tabs" }).isChecked(), false);
    await card.getByRole("textbox").first().fill("whatever deno fmt does");
    await page.getByRole("link", { name: "Terminal" }).tap();
    await page.getByRole("link", { name: /question for you/ }).tap();
    await card.getByRole("textbox").last().fill("cards");
    await phone.shoot("card-questions");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await tapStill(card, "Send answer");
    assert.deepEqual((await answerTo(id)).answer, {
      kind: "answers",
      answers: [{ options: [0, 2] }, { options: [], text: "whatever deno fmt does" }, {
        options: [],
        text: "cards",
      }],
    });
    await card.getByText("unit, phone").waitFor();
    assert.deepEqual(phone.faults, []);
  }));

Deno.test("a request is shown whole and allowed only when it was read to its end; the answer names its digest [card-read, card-outcome]", () =>
  withCards(async ({ page, phone, ask, answerTo, prove }) => {
    const long = `printf '⟨U+202E⟩' > out.txt # ${"x".repeat(200)}`;
    const id = await ask(
      approval({ unusual: ["hidden_characters", "long_lines", "outside_project"] }),
      { body: `${long}\n${DIFF}` },
    );
    const card = cardOf(page, id);
    const request = card.getByRole("region", { name: "The whole request" });
    await request.waitFor();
    const [edge, begin] = [await page.locator(".messages").boundingBox(), await card.boundingBox()];
    assert.ok((begin?.y ?? 0) - (edge?.y ?? 0) >= 8, "the card begins below the header, with a gap");
    await phone.shoot("card-approval");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    assert.equal(await request.textContent(), `${long}\n${DIFF}`, "never cut");
    for (const text of ["hidden characters", "very long lines", "outside the project", "/home/user/demo"]) {
      await card.getByText(text).waitFor();
    }
    const allow = card.getByRole("button", { name: "Allow once" });
    const isAllowed = (): Promise<boolean> => allow.isEnabled({ timeout: 0 });
    assert.equal(await allow.getAttribute("disabled"), "");
    await card.getByText("read the request to its end first").waitFor();
    await scrollToEnd(request);
    await card.locator('.card-buttons[data-settled="true"]').waitFor();
    assert.equal(await allow.getAttribute("disabled"), "", "the right end of its lines was not seen");
    await card.getByRole("button", { name: "Wrap lines" }).tap();
    await scrollToEnd(request);
    await until("the buttons", isAllowed);
    await phone.shoot("card-approval-read");
    await tapStill(card, "Allow once");
    const { push, answer } = await answerTo(id);
    assert.deepEqual(answer, { kind: "decided", decision: "once", digest: DIGEST });
    await card.getByText("Allowed once").waitFor();
    await prove(push, { outcome: "refused", reason: "dialog_gone" });
    await card.getByText("It came too late: the dialog was answered or is gone").waitFor();
    await phone.shoot("card-too-late");
    assert.deepEqual([await phone.violations(), phone.faults], [[], []]);
  }));

/** Runs in the page: where each character of the element's text begins, from the left. */
function placesOf(element: Element): [character: string, left: number][] {
  const places: [string, number][] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent ?? "";
    for (let at = 0; at < text.length; at++) {
      const range = document.createRange();
      range.setStart(texts.currentNode, at);
      range.setEnd(texts.currentNode, at + 1);
      places.push([text[at] ?? "", range.getBoundingClientRect().left]);
    }
  }
  return places;
}

Deno.test("right-to-left letters in a request do not reorder the text around them [card-order]", () =>
  withCards(async ({ page, ask }) => {
    const [body, directory] = ["rm א 1 ב/2 ⟨U+202E⟩ג 3", "/home/ד/4/ה"];
    const card = cardOf(page, await ask(approval({ directory }), { body }));
    const request = card.getByRole("region", { name: "The whole request" });
    await request.waitFor();
    assert.equal(await request.textContent(), body);
    for (const shown of [request, card.locator(".request-facts dd").last()]) {
      const places = (await shown.evaluate(placesOf)).filter(([character]) => character !== " ");
      assert.deepEqual(places.toSorted(([, one], [, other]) => one - other), places);
    }
  }));

Deno.test("a request that may only be rejected has just that button and says why; a reason is sent with it [card-read]", () =>
  withCards(async ({ page, phone, ask, answerTo }) => {
    const id = await ask(approval({ decisions: ["reject"], withheld: "never_list" }), {
      body: "git push --force",
    });
    const card = cardOf(page, id);
    await card.getByText("can never be allowed from a phone").waitFor();
    assert.deepEqual(await card.locator(".card-buttons button").allInnerTexts(), ["Reject"]);
    await card.getByRole("textbox", { name: /Reason/ }).fill("push to a branch");
    await phone.shoot("card-reject");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await tapStill(card, "Reject");
    assert.deepEqual((await answerTo(id)).answer, {
      kind: "decided",
      decision: "reject",
      digest: DIGEST,
      reason: "push to a branch",
    });
    await card.getByText("Rejected: push to a branch").waitFor();
    const long = await ask(approval({ decisions: ["reject"], withheld: "too_long" }), { body: "cat\n…" });
    await cardOf(page, long).getByText("too long to be shown in full").waitFor();
  }));

/** Runs in the page: taps every card's Reject as soon as another card appears, before anything else can happen. */
function tapOnNextCard(): void {
  const before = document.querySelectorAll(".card-buttons").length;
  const observer = new MutationObserver(() => {
    if (document.querySelectorAll(".card-buttons").length === before) return;
    observer.disconnect();
    for (const button of document.querySelectorAll<HTMLElement>(".card-buttons .reject")) button.click();
  });
  observer.observe(document.body, { childList: true, subtree: true });
}

Deno.test("a tap already under way never answers another request: a button that has just appeared or moved does nothing [card-still]", () =>
  withCards(async ({ page, ask, listener, answerTo, api }) => {
    await page.goto(new URL("#/inbox", page.url()).href);
    const first = await ask(approval(), { body: "rm one.txt" });
    await cardOf(page, first).locator('.card-buttons[data-settled="true"]').waitFor();
    await page.evaluate(tapOnNextCard);
    const second = await ask(approval(), { body: "rm two.txt" });
    for (const id of [first, second]) {
      await cardOf(page, id).getByText("The card had just moved").waitFor();
      await cardOf(page, id).locator('.card-buttons[data-settled="true"]').waitFor();
    }
    assert.deepEqual(listener.pushes.filter(({ type }) => type === "ask.answer"), []);
    await tapStill(cardOf(page, second), "Allow once");
    assert.equal((await answerTo(second)).answer?.kind, "decided");
    assert.equal((await api.getPush(first)).receipt.final, false);
  }));

Deno.test("an outcome that only the relay claims is not shown as the agent's [card-outcome]", () =>
  withCards(async ({ page, ask, answerTo, listener, prove }) => {
    const id = await ask(approval(), { body: "make" });
    const card = cardOf(page, id);
    await until("the buttons", () => card.getByRole("button", { name: "Allow once" }).isEnabled());
    await tapStill(card, "Allow once");
    const { push } = await answerTo(id);
    listener.acknowledge(push, { outcome: "delivered", final: false });
    await card.getByText("an outcome that the host has not confirmed").waitFor();
    await prove(push, { outcome: "unknown" });
    await card.getByText("not known whether the agent took it").waitFor();
  }));

Deno.test("a card whose agent stopped waiting, or that was answered elsewhere, is closed and never late [card-shown, card-late]", () =>
  withCards(async ({ page, ask, listener, api }) => {
    const late = await ask(DATABASE, { timeoutSeconds: 1 });
    await cardOf(page, late).getByText("The agent no longer waits for it here: answer at the computer")
      .waitFor();
    assert.equal(await cardOf(page, late).getByRole("button").count(), 0);
    // The terminal's view offers only what can still be answered.
    const [messages] = page.url().split("/messages");
    const questions = page.getByRole("link", { name: / for you/ });
    const inTime = await ask(approval(), { body: "make test" });
    await page.goto(messages ?? "");
    await questions.waitFor();
    assert.match(await questions.innerText(), /^1 question for you/);
    listener.acknowledge((await api.getPush(inTime)).push, { outcome: "withdrawn" });
    await questions.waitFor({ state: "detached" });
    await page.goto(`${messages}/messages`);
    const withdrawn = await ask(approval(), { body: "make" });
    await cardOf(page, withdrawn).getByRole("button", { name: "Reject" }).waitFor();
    const { push } = await api.getPush(withdrawn);
    listener.acknowledge(push, { outcome: "withdrawn" });
    await cardOf(page, withdrawn).getByText("answered at the computer, or withdrawn").waitFor();
    assert.equal(await cardOf(page, withdrawn).getByRole("button").count(), 0);
  }));

Deno.test("an open card's dialog has no second card [card-once]", () =>
  withCards(async ({ page, ask, listener, api }) => {
    const dialog = { id: crypto.randomUUID(), since: Date.now(), can: ["reject"] };
    await listener.report({ name: SESSION, dialog });
    await page.locator(".dialog-card").waitFor();
    const id = await ask(approval(), { body: "make" });
    await cardOf(page, id).waitFor();
    await page.locator(".dialog-card").waitFor({ state: "detached" });
    await page.goto(new URL("#/", page.url()).href);
    await page.getByRole("link", { name: /1 question for you/ }).tap();
    await cardOf(page, id).waitFor();
    assert.equal(await page.locator(".dialog-card").count(), 0);
    const { push } = await api.getPush(id);
    listener.acknowledge(push, { outcome: "withdrawn" });
    await page.locator(".dialog-card").waitFor();
  }));

Deno.test("a notification's button opens the card with its option chosen, and sends nothing [card-notified]", () =>
  withCards(async ({ page, phone, ask, answerTo, listener }) => {
    const id = await ask(DATABASE);
    await cardOf(page, id).waitFor();
    await page.goto(`${page.url()}/${id}/1`);
    const card = cardOf(page, id);
    assert.equal(await card.getByRole("radio", { name: /PostgreSQL/ }).isChecked(), true);
    await phone.shoot("card-preselected");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    assert.deepEqual(listener.pushes, []);
    await tapStill(card, "Send answer");
    assert.deepEqual((await answerTo(id)).answer, { kind: "answers", answers: [{ options: [1] }] });
  }));
