/** Claims about what the phone's page does, in Chromium and in WebKit, and about the cards of real agents' dialogs. */
import type { Claim } from "./claims.ts";
import { KINDS } from "./claims_closed.ts";

export const PHONE_APP: Claim[] = [
  {
    text:
      "each view and way of the page, in Chromium with touch, with real relays, listeners, tmux and agents",
    tests: { files: ["tests/phone"] },
    env: { SVC_TEST_SHOTS: "1" },
    count: {
      tests: / \.\.\. .*ok \(/g,
      "views shot, each in three sizes, light and dark": /^screenshots of /gm,
    },
    quote: { part: /^axe: (.*)$/gm, as: "axe: $1" },
  },
  {
    text:
      "in WebKit: pairing, the list, live keys, a message, the back-forward cache, a frozen page, a reload while the outcome is unknown",
    task: "test:webkit",
    count: { steps: /^✓ /gm },
  },
  ...KINDS.map((kind): Claim => ({
    text: `${kind}: an open dialog's card has its whole text, and appears and disappears with it`,
    tests: { files: ["tests/agents/dialog_card_test.ts"], filter: `/^${kind}:/` },
    quote: { part: /^dialog card, \w+: (.*)$/gm, as: "$1" },
  })),
];
