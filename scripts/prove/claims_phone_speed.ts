/** Claims about how fast the phone's page is and how little it loads. */
import type { Claim } from "./claims.ts";

export const PHONE_SPEED: Claim[] = [
  {
    text:
      "on a slow network and phone the list is there within 1 s and a terminal within 1.5 s, without shifts",
    task: "prove:phone-speed",
    quote: { part: /^(.*): (.*)$/gm, as: "$1 $2" },
  },
  {
    text: "what an open page loads in an hour, idle and with a busy session",
    task: "prove:phone-bytes",
    quote: { part: /^(.*) in an hour, scaled from (.*) with.*$/gm, as: "$1 (from $2)" },
  },
  {
    text:
      "files are compressed when the page is built, hashed ones are immutable, and the page opens offline",
    tests: {
      files: [
        "tests/contract/phone_build_test.ts",
        "tests/unit/relay/static_files_test.ts",
        "tests/unit/phone/worker/shell_test.ts",
        "tests/phone/shell_test.ts",
      ],
    },
  },
];
