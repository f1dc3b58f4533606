/** Writes the manual page from the table of commands and each command's help: `deno run -A scripts/man_page.ts`. */
import { fileURLToPath } from "node:url";
import { helpText, listedCommands, main } from "../src/cli/main.ts";
import { AGENT_LABELS } from "../src/protocol/names.ts";
import { VERSION } from "../src/protocol/version.ts";
import { say, write } from "./say.ts";

const ROOT = new URL("../", import.meta.url);
export const MAN_PAGE: URL = new URL("docs/svc.1", ROOT);

/** The argument with which this file prints the help of every command. */
const PRINT_HELP = "--print-help";
const SEPARATOR = "\x1e";

/** Returns every command and subcommand, as the arguments after `svc`. */
export function allCommands(): string[][] {
  return listedCommands().flatMap((
    { name, subcommands },
  ) => [[name], ...subcommands.map((word) => [name, word])]);
}

async function printHelp(): Promise<void> {
  for (const words of allCommands()) {
    await main([...words, "--help"]);
    write(SEPARATOR);
  }
}

/** Runs a separate process, so that nothing is written to this one's output. */
async function helpTexts(): Promise<string[]> {
  const args = ["run", "-A", "--quiet", "--no-check", fileURLToPath(import.meta.url), PRINT_HELP];
  const { stdout, success } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  if (!success) throw new Error("Cannot print the help of every command: see the error above");
  return new TextDecoder().decode(stdout).split(SEPARATOR).slice(0, -1);
}

interface Help {
  usage: string;
  summary: string;
  /** Arguments and options, each with its meaning. */
  terms: [term: string, meaning: string][];
  examples: string[];
}

/** Parses commander's layout: paragraphs, and two columns in which long text continues below its column. */
export function parseHelp(text: string): Help {
  const help: Help = { usage: "", summary: "", terms: [], examples: [] };
  const [usage = "", summary = "", ...sections] = text.trim().split(/\n\n+/);
  help.usage = joined(usage).replace("Usage: ", "");
  help.summary = joined(summary);
  for (const section of sections) {
    const [title, ...lines] = section.split("\n");
    if (title?.startsWith("Examples")) help.examples = lines.map((line) => line.trim());
    else for (const line of lines) addLine(help.terms, line);
  }
  return help;
}

function addLine(terms: Help["terms"], line: string): void {
  const [, term, meaning] = /^ {2}(\S.*?)(?: {2,}(\S.*))?$/.exec(line) ?? [];
  const last = terms.at(-1);
  if (term !== undefined) terms.push([term, meaning ?? ""]);
  else if (last !== undefined) last[1] = `${last[1]} ${line.trim()}`.trim();
}

function joined(paragraph: string): string {
  return paragraph.replace(/\s+/g, " ").trim();
}

/** Escapes text for roff: no line may begin with a control character, and a hyphen must stay one. */
function roff(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^([.'])/gm, "\\&$1")
    .replaceAll("—", "\\(em").replaceAll("…", "...");
}

/** The variables of docs/configuration.md, each with its meaning there. */
async function environment(): Promise<[name: string, meaning: string][]> {
  const page = await Deno.readTextFile(new URL("docs/configuration.md", ROOT));
  const [, section = ""] = /^## Variables\n([^]*?)^## /m.exec(page) ?? [];
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  if (rows.length === 0) throw new Error('Cannot find the table under "Variables" in docs/configuration.md');
  return rows.map((row) => {
    const [name = "", meaning = ""] = row.split("|").slice(1, -1).map((cell) =>
      cell.replaceAll("`", "").trim()
    );
    return [name, meaning];
  });
}

const FILES: [name: string, meaning: string][] = [
  ["~/.svc/config.json", "the relay's address, the key and the settings of this host"],
  ["~/.svc/listener.log", "the listener's log"],
  ["~/.svc/server", "the relay's data, where it runs on this host"],
];
const EXIT: [name: string, meaning: string][] = [
  ["0", "done"],
  ["1", "failed"],
  ["2", "used incorrectly"],
];

const terms = (list: readonly (readonly [string, string])[]): string[] =>
  list.flatMap(([term, meaning]) => [".TP", `.B ${roff(term)}`, roff(meaning || "See the description.")]);

const examples = (lines: readonly string[]): string[] => [".PP", ".nf", ...lines.map(roff), ".fi"];

/** Returns the lines under a heading of `svc --help`. */
function helpExamples(): string[] {
  const [, text = ""] = /\nExamples:\n([\s\S]*)$/.exec(helpText(VERSION)) ?? [];
  return text.trim().split("\n").map((line) => line.trim());
}

/** Returns this version's release date from the changelog. */
async function releaseDate(): Promise<string> {
  const changes = await Deno.readTextFile(new URL("CHANGELOG.md", ROOT));
  return new RegExp(`^## \\[${VERSION}\\] - (\\S+)$`, "m").exec(changes)?.[1] ?? '""';
}

export async function manPage(): Promise<string> {
  const helps = (await helpTexts()).map(parseHelp);
  const sections = allCommands().flatMap((words, at) => {
    const help = helps[at];
    if (help === undefined) throw new Error(`Cannot describe "svc ${words.join(" ")}": it printed no help`);
    return [
      `.SS svc ${roff(words.join(" "))}`,
      `.B ${roff(help.usage)}`,
      ".PP",
      roff(help.summary),
      ...terms(help.terms.filter(([term]) => term !== "-h, --help")),
      ...examples(help.examples),
    ];
  });
  return [
    '.\\" Written by scripts/man_page.ts from the help of each command.',
    `.TH SVC 1 ${await releaseDate()} "svc ${VERSION}" "User Commands"`,
    ".SH NAME",
    "svc \\- type into terminal coding agents from a phone",
    ".SH SYNOPSIS",
    ".B svc",
    "[\\-\\-detach] \\fIagent\\fR [\\fIarguments for the agent\\fR ...]",
    ".br",
    ".B svc",
    "\\fIcommand\\fR [\\fIoptions\\fR]",
    ".SH DESCRIPTION",
    "A listener on this machine keeps one connection to a relay, types each message from a phone once into the",
    "tmux pane where the agent runs, and reports the outcome.",
    ".SH AGENTS",
    ...terms(Object.entries(AGENT_LABELS)),
    ".SH COMMANDS",
    ...sections,
    ".SH ENVIRONMENT",
    ...terms(await environment()),
    ".SH FILES",
    ...terms(FILES),
    ".SH EXIT STATUS",
    ...terms(EXIT),
    ".SH EXAMPLES",
    ...examples(helpExamples()).slice(1),
    ".SH SEE ALSO",
    ".BR tmux (1)",
    "",
  ].join("\n");
}

if (import.meta.main) {
  if (Deno.args.includes(PRINT_HELP)) await printHelp();
  else {
    await Deno.writeTextFile(MAN_PAGE, await manPage());
    say(`wrote ${fileURLToPath(MAN_PAGE)}`);
  }
}
