/** `deno task test:closed`: the long form of the attacks on the real agents, with a line and a figure for each; takes hours. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { say } from "../../../scripts/say.ts";
import { installAgent } from "../install.ts";
import { agents, FORM, type FormVariable } from "./form.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FOLDER = "tests/agents/closed";

/** Each option with the variable that it sets and its long value. */
const OPTIONS: Readonly<Record<string, { variable: FormVariable; long: string; what: string }>> = {
  tries: {
    variable: "SVC_CLOSED_TRIES",
    long: "200",
    what: "tries of the race, per agent and form of hooks",
  },
  rounds: { variable: "SVC_CARD_ROUNDS", long: "200", what: "dialogs answered from a phone, per agent" },
  minutes: { variable: "SVC_CLOSED_MINUTES", long: "10", what: "minutes of the crawler, per agent and size" },
  busy: { variable: "SVC_CLOSED_BUSY", long: "4", what: "busy loops beside the race" },
  agents: {
    variable: "SVC_CLOSED_AGENTS",
    long: FORM.SVC_CLOSED_AGENTS,
    what: "agents, separated by commas",
  },
  sizes: { variable: "SVC_CLOSED_SIZES", long: FORM.SVC_CLOSED_SIZES, what: "sizes of the crawler" },
  hooks: { variable: "SVC_CLOSED_HOOKS", long: FORM.SVC_CLOSED_HOOKS, what: "forms of hooks in the race" },
  seed: { variable: "SVC_CLOSED_SEED", long: "", what: "seed of the crawler, else a new one each" },
};

/** The parts, by their names on the command line. */
const PARTS: Readonly<Record<string, string>> = {
  race: `${FOLDER}/race_test.ts`,
  cards: `${FOLDER}/cards_race_test.ts`,
  crawler: `${FOLDER}/crawler_test.ts`,
  rows: `${FOLDER}/rows_test.ts`,
  hidden: `${FOLDER}/hidden_test.ts`,
  "by-hand": `${FOLDER}/hand_started_test.ts`,
  resized: `${FOLDER}/resized_dialog_test.ts`,
  useful: `${FOLDER}/useful_test.ts`,
  left: `${FOLDER}/left_test.ts`,
  programs: "tests/e2e/closed_test.ts",
};

function usage(): void {
  say(`Usage: deno task test:closed [${Object.keys(PARTS).join(" | ")}]... [options]\n`);
  for (const [name, { what, long }] of Object.entries(OPTIONS)) {
    say(`  --${name.padEnd(8)} ${what} (${long === "" ? "none" : long})`);
  }
}

const options = Object.fromEntries(Object.keys(OPTIONS).map((name) => [name, { type: "string" as const }]));
const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: { ...options, help: { type: "boolean" } },
});
const unknown = positionals.find((name) => !Object.hasOwn(PARTS, name));
if (values.help || unknown !== undefined) {
  if (unknown !== undefined) say(`Unknown part "${unknown}".`);
  usage();
  Deno.exit(unknown === undefined ? 0 : 2);
}
for (const [name, { variable, long }] of Object.entries(OPTIONS)) {
  const given = new Map<string, unknown>(Object.entries(values)).get(name);
  Deno.env.set(variable, typeof given === "string" ? given : Deno.env.get(variable) ?? long);
}
for (const kind of agents()) await installAgent(kind);
const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
say(`Runs ${names.join(", ")} on ${agents().join(", ")}:`);
for (const { variable, what } of Object.values(OPTIONS)) say(`  ${what}: ${Deno.env.get(variable) || "-"}`);
say("In its long form this takes hours; `deno task prove closed` is the short one.\n");
const files = names.flatMap((name) => PARTS[name] ?? []);
const tests = new Deno.Command(Deno.execPath(), { args: ["test", "-A", "--no-check", ...files], cwd: ROOT })
  .spawn();
Deno.exit((await tests.status).code);
