/** The claims of each capability, as data, with the tests that prove them. */
import { CARDS } from "./claims_cards.ts";
import { CLOSED } from "./claims_closed.ts";
import { FAULTS } from "./claims_faults.ts";
import { HOSTILE } from "./claims_hostile.ts";
import { HOUSE } from "./claims_house.ts";
import { KEYS } from "./claims_keys.ts";
import { KEYS_HOST } from "./claims_keys_host.ts";
import { PACKAGES } from "./claims_packages.ts";
import { PHONE_APP } from "./claims_phone_app.ts";
import { PHONE_PUSH } from "./claims_phone_push.ts";
import { PHONE_SPEED } from "./claims_phone_speed.ts";

export interface Claim {
  /** One sentence, as in the README. */
  text: string;
  /** The test files, and the filter for test names. */
  tests?: { files: string[]; filter?: string };
  task?: string;
  /** A higher time limit for a busy machine, where a claim needs one. */
  limitMinutes?: number;
  /** Added to the environment of the tests. */
  env?: Readonly<Record<string, string>>;
  /** Patterns of output lines to count, by the name under which their number is printed. */
  count?: Record<string, RegExp>;
  /** Parts of the output to print, each formatted by `as`, where `$1` is the first group. */
  quote?: { part: RegExp; as: string };
}

const MAIN: Claim[] = [
  {
    text: "the demo runs the whole path by itself, and exits 1 when a step fails",
    task: "demo",
    count: { steps: /^✓ /gm },
  },
  {
    text: "a failing step of the demo makes it exit 1",
    tests: { files: ["tests/contract/demo_test.ts"] },
  },
  {
    text: "bodies arrive byte for byte at the agent, or are refused as designed",
    tests: { files: ["tests/e2e/main_flow_test.ts"], filter: "byte for byte" },
    count: { "bodies shown": /^ {2}.* \.\.\. .*ok \(/gm },
  },
  {
    text: "only the named session's recorded pane is typed into",
    tests: {
      files: ["tests/e2e/inject_tmux_test.ts", "tests/e2e/main_flow_test.ts"],
      filter: "/name|split|copy mode|dead|two servers|left/",
    },
  },
  {
    text: "nothing reaches a shell, even when the agent exits between guard and typing (200 races)",
    tests: { files: ["tests/e2e/guard_race_test.ts"] },
  },
  {
    text: "kill -9 of the listener after each step: nothing lost, nothing duplicated",
    tests: { files: ["tests/e2e/crash_listener_test.ts"] },
    count: {
      "steps killed at": /after step/g,
      unknown: /: unknown, there/g,
      submitted: /: submitted, there 1/g,
    },
  },
  {
    text: "kill -9 of the relay at each moment: nothing lost, nothing duplicated",
    tests: { files: ["tests/e2e/crash_relay_test.ts"] },
    count: { kills: /round \d \.\.\. .*ok/g },
  },
  {
    text: "twenty wrappers lead to one listener; an older daemon is replaced, a newer one left alone",
    tests: { files: ["tests/e2e/singleton_test.ts"], filter: "/twenty|older|newer/" },
  },
  {
    text: "the specified log lines, word for word",
    tests: { files: ["tests/e2e/main_flow_test.ts"], filter: "/word for word|rejected/" },
  },
  {
    text:
      "a dialog holds a message, even when it opens before Enter; ! is refused; the marker is written and removed",
    tests: { files: ["tests/e2e/dialog_test.ts"] },
  },
  {
    text: "a real agent on its real screen takes 20 of 20 messages exactly",
    tests: { files: ["tests/agents/real_agents_test.ts"], filter: "/^(cc|codex) takes/" },
  },
];

const AGENTS: Claim[] = [
  {
    text: "real agents take 20 of 20 messages exactly, the first while they start, and a slash command",
    tests: { files: ["tests/agents/real_agents_test.ts"] },
    count: { agents: /^\w+ takes 20 of 20/gm },
  },
  {
    text: "the hook informs their models that the phone drives, again after a compaction, and when that ends",
    tests: { files: ["tests/agents/real_hooks_test.ts"] },
    count: {
      agents: /^\w+: informed that the phone drives/gm,
      compactions: /^\w+: informed again/gm,
    },
  },
  {
    text:
      "their states come in order, their permission prompts hold message and keys, their exit leaves nothing",
    tests: { files: ["tests/agents/real_states_test.ts"] },
    count: { agents: /^\w+: its states in order/gm },
  },
  {
    text: "their questions are answered from the phone, in time and late",
    tests: { files: ["tests/agents/real_asks_test.ts"] },
    count: {
      "in time": /^ *\w+: answered in time/gm,
      late: /^ *\w+: answered late/gm,
    },
  },
  {
    text: "svc setup finds them all, and svc verify tests each one's hook and MCP server",
    tests: { files: ["tests/agents/real_verify_test.ts"] },
  },
  {
    text:
      "the Cursor-class agent, by a stand-in for its screen: messages are submitted, and every MCP tool works",
    tests: { files: ["tests/agents/cursor_test.ts"] },
  },
  {
    text: "svc setup changes nothing the second time; --remove restores byte for byte; a user's own survives",
    tests: { files: ["tests/e2e/setup_test.ts"] },
  },
  {
    text: "svc verify on installations broken on purpose names each fault and its fix",
    tests: { files: ["tests/e2e/verify_broken_test.ts"] },
    count: { faults: /^svc verify names .*ok \(/gm },
  },
  {
    text:
      "hooks without a daemon, with a missing or broken configuration, or with an unwritable home exit 0, silently",
    tests: { files: ["tests/e2e/hooks_test.ts"] },
  },
  {
    text: "svc mcp passes its protocol's own client: list, call, progress, cancel, error, on both runtimes",
    tests: { files: ["tests/contract/mcp_test.ts", "tests/contract/mcp_stdio_test.ts"] },
  },
  {
    text:
      "a question is answered from the phone in time, or late and typed once, whatever is killed in the meantime",
    tests: { files: ["tests/e2e/asks_test.ts"] },
  },
  {
    text:
      "agents' reports and questions, and the answers, are sealed for paired phones: the relay reads none of them",
    tests: { files: ["tests/e2e/sealed_told_test.ts"] },
  },
  {
    text: "a phone starts an agent where the host allows it and knows the project, and nowhere else",
    tests: { files: ["tests/e2e/start_test.ts"] },
  },
  {
    text: "the relay counts an installation's hooks by their id, mutes them and revokes them",
    tests: { files: ["tests/unit/relay/hooks_test.ts"] },
  },
];

const MIRROR: Claim[] = [
  {
    text:
      "the phone's terminal is tmux's pane, cell by cell, for each program, resize and flood, and after ten cuts",
    tests: { files: ["tests/e2e/mirror_cells_test.ts"] },
    count: {
      "comparisons without a difference": /: 0 of \d+ cells differ/g,
      "after cuts": /(?:after 10 cuts|cut 10 times|cut while|cut in).*: 0 of \d+ cells differ/g,
    },
    quote: { part: /(\d+) bytes to the phone, ([\d,]+) written/g, as: "a flood of $2 bytes sent as $1" },
  },
  {
    text: "RFC 9180's vectors pass; no text of a screen, key or message is found in what crossed the relay",
    tests: {
      files: [
        "tests/unit/crypto/rfc9180_test.ts",
        "tests/unit/crypto/stream_test.ts",
        "tests/e2e/sealed_stream_test.ts",
        "tests/e2e/sealed_test.ts",
      ],
    },
    count: { vectors: /^what .* seals is .*ok/gm, "searches of all that crossed": /crosse[sd].*ok/g },
  },
  {
    text:
      "a hostile relay is detected: nothing typed or shown, and the user warned; in base mode except for its gap",
    tests: { files: ["tests/e2e/hostile_relay_test.ts", "tests/unit/crypto/stream_test.ts"] },
    count: {
      "attacks in psk mode": /^ +psk: .* → .* \.\.\. ok/gm,
      "reported, psk": /^ +psk: .* → reported \.\.\. ok/gm,
      "without effect, psk": /^ +psk: .* → no effect \.\.\. ok/gm,
      "attacks in base mode": /^ +base: .* → .* \.\.\. ok/gm,
      "through the gap, base": /^ +base: .* → gap \.\.\. ok/gm,
    },
  },
  {
    text: "keys that a relay holds back for more than a minute are not typed, nor any later ones",
    tests: {
      files: ["tests/e2e/faults_keys_test.ts", "tests/unit/listener/keystrokes/keystroke_stream_test.ts"],
      filter: "/held back/",
    },
  },
  {
    text:
      "a phone that stops reading for a minute during yes costs no memory and no speed, and its screen is right afterwards",
    task: "prove:stuck",
    quote: { part: /^(relay|listener|pane): .*; (.*)$|^screen: (.*) once.*$/gm, as: "$1$3 $2" },
  },
  {
    text:
      "time from a key to its echo, sealed and plain, and frames per second, against a pty under a WebSocket server",
    task: "bench mirror:",
    quote: {
      part:
        /^mirror: (.*) \(\d+ samples[^)]*\)\n.*median +([\d.]+).* (ms|a second)\n.*median +([\d.]+).*\n.*/gm,
      as: "$1 $2 $3 beside $4",
    },
  },
  {
    text:
      "a session renamed or killed, or its tmux restarted: the phone is informed, and mirrors it again when it is back",
    tests: {
      files: ["tests/e2e/mirror_test.ts"],
      filter: "/renamed|take[sn] the session over|restart of relay/",
    },
    quote: { part: /^(.*): reported after (\d+ ms)$/gm, as: "$1 $2" },
  },
];

const SCALE: Claim[] = [
  {
    text:
      "store and bus keep the same contract over NATS as over SQLite and within one process, on Deno and Node",
    tests: {
      files: ["store_test", "store_nats_test", "bus_test", "offline_cancel_test"].map((name) =>
        `tests/contract/${name}.ts`
      ),
    },
  },
  {
    text:
      "three relay nodes on three NATS servers: each killed, stopped, cut off or upgraded under load, also behind nginx and with wrong clocks, and nothing lost, duplicated or out of order",
    task: "test:nodes",
    quote: { part: /^nodes (.*)$/gm, as: "$1;" },
  },
  ...["test:e2e", "test:phone"].map((task): Claim => ({
    text:
      `${task} with three relay nodes on three NATS servers, where phone and listener are on different nodes`,
    task,
    env: { SVC_TEST_NATS: "1" },
    count: { tests: / \.\.\. .*ok \(/g },
  })),
  {
    text: "a relay moves to NATS and back under load, and nothing is lost or duplicated",
    tests: { files: ["tests/e2e/migrate_test.ts", "tests/contract/store_copy_test.ts"] },
  },
  {
    text: "NATS with TLS and users is used with the right files; with others svc server says what to do",
    tests: { files: ["tests/contract/nats_access_test.ts"] },
  },
  {
    text:
      "pushes per second for SQLite, 1, 2 and 3 nodes; latency to another node; traffic and memory when idle",
    task: "bench:nodes",
    quote: { part: /^(pushes|push|mirrored|report|idle)(.*)$/gm, as: "$1$2;" },
  },
  {
    text: "a long history: copying it, starting a node on it, and sweeping it",
    task: "bench:history",
    quote: { part: /^history of (.*)$/gm, as: "$1;" },
  },
];

/** Returns the claims whose text contains one of the parts; all of them if there are no parts. */
export function selectClaims(claims: readonly Claim[], parts: readonly string[]): readonly Claim[] {
  return parts.length === 0 ? claims : claims.filter(({ text }) => parts.some((part) => text.includes(part)));
}

export const CLAIMS: Readonly<Record<string, Claim[]>> = {
  main: MAIN,
  agents: AGENTS,
  mirror: MIRROR,
  closed: CLOSED,
  keys: [...KEYS, ...KEYS_HOST],
  house: HOUSE,
  phone: [...PHONE_SPEED, ...PHONE_PUSH, ...PHONE_APP],
  cards: [...CARDS],
  packages: [...PACKAGES],
  scale: SCALE,
  faults: [...FAULTS, ...HOSTILE],
};
