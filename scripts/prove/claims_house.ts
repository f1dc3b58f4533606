/** Claims about the code itself: it stays easy to follow, and the gate passes on a busy machine. */
import type { Claim } from "./claims.ts";

export const HOUSE: Claim[] = [
  {
    text: "an event passes few files",
    tests: { files: ["tests/house_test.ts"], filter: "passes few files" },
    quote: { part: /^walk (.*)$/gm, as: "$1;" },
  },
  {
    text: "no import circle, and no file that only forwards",
    tests: { files: ["tests/house_test.ts"], filter: "import circle" },
    quote: { part: /^(\d+ files) in src$/gm, as: "$1" },
  },
  {
    text: "no code is written twice",
    tests: { files: ["tests/house_test.ts"], filter: "written twice" },
    quote: { part: /^(\d+ runs of six or more similar lines)$/gm, as: "$1, each with its reason" },
  },
  {
    text: "every requirement names a heading that a reader can open",
    tests: { files: ["tests/requirements_test.ts"] },
  },
  {
    text: "the examples run against a real relay",
    tests: { files: ["tests/e2e/examples_test.ts"] },
  },
  // Each step has its own claim: together they would take longer than a claim may.
  ...["contract", "e2e", "phone"].map((step): Claim => ({
    text: `the ${step} tests pass while four busy loops run`,
    task: `ok --only ${step} --busy 4`,
    quote: { part: /^(\d+ passed, \d+ failed)$/gm, as: "$1" },
  })),
];
