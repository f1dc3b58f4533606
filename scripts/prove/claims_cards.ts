/** Claims about agents' own dialogs that are answered from a phone. */
import type { Claim } from "./claims.ts";
import { KINDS } from "./claims_closed.ts";

const LISTENER = "tests/unit/listener/cards/cards_test.ts";
const CARD = "tests/unit/listener/cards/card_test.ts";
const WHOLE = "tests/e2e/cards_test.ts";

export const CARDS: readonly Claim[] = [
  {
    text: "a question and a request are answered through the agent's own hook; by default no request is",
    tests: { files: [WHOLE] },
  },
  {
    text: "five real agents' questions and permissions are answered from a paired phone, none by default",
    tests: { files: ["tests/agents/cards_test.ts"] },
    count: {
      "agents asked": /its questions are answered from a phone.*ok \(/g,
      "agents permitted": /a phone allows one command.*ok \(/g,
    },
  },
  {
    text: "real agents' plans, edits, MCP tools and lasting permissions are decided from a paired phone",
    tests: { files: ["tests/agents/card_kinds_test.ts"] },
    count: { kinds: /\[other-agents, card-approvals\] \.\.\. .*ok \(/g },
  },
  ...KINDS.map((kind): Claim => ({
    text:
      `${kind}: while a phone answers its dialog, it is withdrawn, answered at the computer, or joined by another`,
    tests: { files: ["tests/agents/closed/cards_race_test.ts"], filter: `/^${kind}:/` },
    quote: { part: /^cards (.*)$/gm, as: "$1" },
  })),
  ...KINDS.map((kind): Claim => ({
    text: `${kind}: from a tool call to its dialog at the computer`,
    tests: { files: ["tests/agents/local_dialog_test.ts"], filter: `/^${kind}:/` },
    quote: { part: /^local (.*)$/gm, as: "$1" },
  })),
  {
    text: "no process of an agent keeps running when its session was killed while a phone was asked",
    tests: { files: ["tests/agents/closed/left_test.ts"], filter: "/waits for a phone/" },
    quote: { part: /^left (.*)$/gm, as: "$1;" },
  },
  {
    text: "while the phone answers, requests end, are answered elsewhere, followed, repeated and swapped",
    tests: { files: ["tests/e2e/cards_race_test.ts"] },
    quote: { part: /^(?:cards, seed )?((?:\d+: rounds|from the (?:hook|phone)).*)$/gm, as: "$1" },
  },
  {
    text: "a hostile phone and a hostile relay alter, swap and repeat answers in every order",
    tests: { files: ["tests/e2e/hostile_cards_test.ts"] },
    env: { SVC_CARD_ORDERS_EVERY: "1" },
    quote: { part: /^hostile answers, (.*)$/gm, as: "$1;" },
  },
  {
    text: "the dialog opens for a user at the computer, and when hook, listener or relay is gone",
    tests: { files: [LISTENER, "tests/unit/home/control_test.ts"], filter: "/computer|lost relay|hook/" },
  },
  {
    text: "only the first answer of a paired phone, to the very request that it names, counts",
    tests: { files: [LISTENER, "tests/unit/protocol/ask_test.ts"], filter: "/first answer|anyone but|fits/" },
  },
  {
    text:
      "an answer that no paired phone has sealed closes no card, and a phone without all of a request cannot allow it",
    tests: { files: ["tests/unit/listener/cards/card_test.ts"] },
  },
  {
    text: "the receipt follows what the agent did, and is unknown when nothing shows that",
    tests: { files: [LISTENER], filter: "/receipt/" },
  },
  {
    text: "destructive requests can only be refused, everyday ones may be allowed",
    tests: { files: ["tests/unit/listener/cards/never_allowed_test.ts"] },
  },
  {
    text: "a request is shown in full, with everything hidden named, and bound to its digest",
    tests: { files: [CARD] },
  },
  {
    text:
      "100 requests of all kinds and up to 2 MB are shown in full and bound to their digest, or not allowed",
    tests: { files: ["tests/e2e/long_requests_test.ts"] },
    env: { SVC_LONG_REQUESTS: "100" },
    quote: { part: /^requests, seed \d+: (.*)$/gm, as: "$1" },
  },
  {
    text:
      "a diff of 5,000 lines and a request of 1 MB are fetched, shown and allowed at their end, in Chromium",
    tests: { files: ["tests/phone/long_request_test.ts"] },
  },
  {
    text: "the phone shows the whole request and answers with what was tapped, in Chromium",
    tests: { files: ["tests/phone/card_test.ts"] },
  },
];
