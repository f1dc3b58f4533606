/** Claims about notifications on the phone, against a local push service that stands in for the browser vendor's. */
import type { Claim } from "./claims.ts";

const RELAY = "tests/unit/relay/web_push_test.ts";
const WHOLE = "tests/e2e/web_push_test.ts";
const PAGE = "tests/phone/push_test.ts";

export const PHONE_PUSH: Claim[] = [
  {
    text:
      "a question, a dialog, a turn's end and a note are pushed to every phone, and a subagent's end is not",
    tests: { files: [WHOLE, "tests/unit/hooks/event_hook_test.ts"], filter: "/reach every phone|subagent/" },
  },
  {
    text: "the time from an agent's hook to the push service",
    tests: { files: [WHOLE], filter: "time from an event" },
    quote: { part: /^event to push service: (.*)$/gm, as: "$1" },
  },
  {
    text:
      "a message opens as RFC 8291 says, on both runtimes, and its text only with the paired phone's keys",
    tests: {
      files: ["tests/contract/runtime_test.ts", "tests/unit/phone/worker/push_test.ts", RELAY],
      filter: "/Web Push message|runtime host on node|RFC 8291|sealed|no text/",
    },
    count: {
      "on Deno": /^runtime host on deno: a Web Push message .* ok \(/gm,
      "on Node": /^ {2}a Web Push message .* ok \(/gm,
      "the RFC's example": /^the example of RFC 8291 .* ok \(/gm,
    },
  },
  {
    text: "a question reaches the notification, and a tap opens its session at it, in Chromium",
    tests: { files: [PAGE], filter: "/a tap opens|closed app/" },
    quote: { part: /^question to notification, (.*)$/gm, as: "$1" },
  },
  {
    text: "the test button shows the whole way with times",
    tests: { files: [PAGE], filter: "whole way" },
    quote: { part: /^the test's own times: (.*)$/gm, as: "$1" },
  },
  {
    text: "kinds, sessions and quiet hours that are off do not ring, nor does a session in view",
    tests: {
      files: [RELAY, "tests/unit/phone/ringing_test.ts", "tests/unit/phone/push_page_test.ts"],
      filter: "/switched off|in view|quiet|visible session/",
    },
  },
  {
    text: "a question answered or withdrawn elsewhere takes its notification away",
    tests: {
      files: [RELAY, "tests/unit/phone/worker/push_test.ts", "tests/unit/phone/push_page_test.ts"],
      filter: "/answered meanwhile|answers gets|withdrawal|taken away/",
    },
  },
  {
    text:
      "dead endpoints are removed, a busy service is asked again after its Retry-After, and queues are bounded",
    tests: { files: [RELAY], filter: "/is removed|busy vendor|bounded/" },
    count: { "dead by status": /answers with \d+ is removed.*ok/g },
  },
  {
    text: "the relay posts to no private address, whatever the name or notation",
    tests: { files: [RELAY, "tests/unit/runtime/public_post_test.ts"], filter: "/public/" },
  },
  {
    text: "an unseen question goes to an ntfy topic or a webhook, without its text",
    tests: {
      files: ["tests/unit/mcp/ask_client_test.ts", WHOLE],
      filter: "/outlet|webhook|ntfy|stays where/",
    },
  },
  {
    text: "a browser without push says why and what to do",
    tests: { files: [PAGE, "tests/unit/phone/ringing_test.ts"], filter: "/home screen|says why/" },
  },
];
