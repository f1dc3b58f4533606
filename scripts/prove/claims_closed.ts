/** Claims that text is typed only where the agent accepts it; `deno task test:closed` runs the same tests for longer. */
import type { Claim } from "./claims.ts";

const FOLDER = "tests/agents/closed";
/**
 * The agents, as the tests' names begin. Each has its own claim: all five together would take longer than a step may.
 */
export const KINDS = ["cc", "codex", "gemini", "opencode", "copilot"];

export const CLOSED: Claim[] = [
  ...KINDS.map((kind): Claim => ({
    text:
      `${kind}: a message posted around a tool call approves nothing, is never lost, and its receipt is true`,
    tests: { files: [`${FOLDER}/race_test.ts`], filter: `/^${kind}, .*posted around/` },
    quote: { part: /^race (.*)$/gm, as: "$1;" },
  })),
  {
    text: "what svc's hooks cost a tool call",
    tests: { files: [`${FOLDER}/race_test.ts`], filter: "/hooks cost/" },
    quote: { part: /^tool (.*)$/gm, as: "$1;" },
  },
  ...KINDS.map((kind): Claim => ({
    text:
      `${kind}: random sequences of everything a phone can send make no canary, and approve, change and suspend nothing`,
    tests: { files: [`${FOLDER}/crawler_test.ts`], filter: `/^${kind}\\b/` },
    quote: {
      part:
        /^crawl (.*): (seed \d+, sequences \d+, inputs \d+), .*(screens \d+, unknown \d+), .*(violations \d+)$/gm,
      as: "$1: $2, $3, $4;",
    },
  })),
  {
    text:
      "keys and bursts that gave a shell, an editor or another approval mode are refused, with a true reason",
    tests: {
      files: [`${FOLDER}/rows_test.ts`, `${FOLDER}/send_anyway_test.ts`, `${FOLDER}/hidden_test.ts`],
      filter: "/closed-keys/",
    },
    count: { "rows of keys": /^ {2}(?:the keys|a shell prefix) .* \.\.\. .*ok/gm },
  },
  {
    text:
      "a message waits, with a true reason, while a screen shows that would swallow it, and is typed afterwards",
    tests: { files: [`${FOLDER}/rows_test.ts`], filter: "/closed-screens/" },
    count: { "screens that keep a message out": /^\w+: a message while .* \.\.\. .*ok/gm },
  },
  {
    text: "tall, pasted, early and completed texts arrive as they were sent, with and without colors",
    tests: {
      files: [`${FOLDER}/rows_test.ts`],
      filter: "/closed-(remote|colors|paste|trust|vim)|\\[inj-/",
    },
    count: { "input lines recognized": /^\w+, with.*: its input line is recognized.* \.\.\. .*ok/gm },
  },
  {
    text: "what a phone sends after two Ctrl-C does not reach the shell in which an agent was started",
    tests: { files: [`${FOLDER}/hand_started_test.ts`] },
    count: { "ways": /^\w+, started by hand: .* \.\.\. .*ok/gm },
  },
  {
    text: "a permission dialog that a phone has made small takes none of its keys and messages",
    tests: { files: [`${FOLDER}/resized_dialog_test.ts`] },
    count: { sizes: /^ {2}\d+ by \d+ \.\.\. .*ok/gm },
  },
  {
    text: "programs that run commands, in sessions that no wrapper made, get neither a message nor keys",
    tests: { files: ["tests/e2e/closed_test.ts"], filter: "/no wrapper made/" },
  },
  {
    text: "a message to another session despite a hostile screen of 1000 by 1000",
    tests: { files: ["tests/e2e/closed_test.ts"], filter: "/hostile/" },
    quote: { part: /^hostile screen: (.*)$/gm, as: "$1" },
  },
  {
    text:
      "model menu, session list, transcript where there is one, and harmless commands still work by a phone's keys",
    tests: { files: [`${FOLDER}/useful_test.ts`] },
    quote: { part: /^useful (.*)$/gm, as: "$1;" },
  },
  {
    text: "reading the worst of 200 hostile screens up to 1000 by 500",
    task: "prove:readers",
    quote: { part: /^reader (.*)$/gm, as: "$1;" },
  },
  {
    text:
      "the model is informed that the phone drives, whatever the agent does to a long text; a paste at the computer ends it",
    tests: { files: ["tests/agents/real_hooks_test.ts"], filter: "/texts that it changes/" },
    count: { agents: /^\w+: informed of the phone also by texts.* \.\.\. .*ok/gm },
  },
  ...KINDS.map((kind): Claim => ({
    text: `${kind}: phones see the agent's true states over turns, dialogs, interrupts and questions`,
    tests: { files: ["tests/agents/state_truth_test.ts"], filter: `/^${kind}:/` },
    quote: { part: /^(\w+: \d+ changes, .*)$/gm, as: "$1;" },
  })),
  {
    text: "no process of an agent keeps running after its session was killed",
    tests: { files: [`${FOLDER}/left_test.ts`] },
    quote: { part: /^left (.*)$/gm, as: "$1;" },
  },
];
