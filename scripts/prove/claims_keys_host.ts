/** Claims about keys, replays and other accounts on host and phone. */
import type { Claim } from "./claims.ts";

export const KEYS_HOST: readonly Claim[] = [
  {
    text: "a relay that replays, reorders, drops, forges and restores a backup gets nothing typed twice",
    tests: { files: ["tests/unit/listener/replay_model_test.ts", "tests/e2e/replay_test.ts"] },
    env: { SVC_REPLAY_PUSHES: "100000" },
    quote: { part: /^(\d+ (?:sealed )?messages, .*)$/gm, as: "$1" },
  },
  {
    text: "50,001 refused entries displace neither a counter nor a proven refusal",
    tests: { files: ["tests/unit/home/journal_test.ts"], filter: "/50,001|promised/" },
  },
  {
    text:
      "another account reads, writes, swaps and joins nothing, and gets no environment in 60 s of swapping",
    task: "prove:account",
    quote: { part: /^(\d+ (?:files, sockets,|swaps in) .*)$/gm, as: "$1" },
  },
  {
    text: "from the first pairing on nothing plain is typed; scripts pair, and svc send seals",
    tests: { files: ["tests/e2e/floor_test.ts"] },
  },
  {
    text: "every sealed key and every single character has one length",
    tests: { files: ["tests/unit/protocol/key_input_test.ts"] },
    quote: { part: /^(\d+ keys and characters, .*)$/gm, as: "$1" },
  },
  {
    text:
      "no script in the page's origin finds the plain API key, and a link asks before it switches the account",
    tests: { files: ["tests/phone/account_at_rest_test.ts"] },
    quote: { part: /^(\d+ stored values .*)$/gm, as: "$1" },
  },
  {
    text: "no view of the page breaks its content policy",
    tests: { files: ["tests/phone/policy_test.ts"] },
    quote: { part: /^(\d+ views, .*)$/gm, as: "$1" },
  },
  {
    text: "a home and a browser of version 0.1.0 keep working, or say what to do",
    tests: { files: ["tests/unit/listener/upgrade_test.ts", "tests/phone/account_at_rest_test.ts"] },
  },
];
