/** `svc logs`: the listener's log, or the audit of remote input. */
import { runtime } from "#runtime";
import { parseAuditLine } from "../home/log_files.ts";
import type { AuditEntry } from "../protocol/audit.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { EXIT_FAILED, inLine, print, printError, UsageError } from "./output.ts";

const LINES_DEFAULT = 50;

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "logs",
    summary:
      "Show the end of listener.log, or with --audit who sent something into which session, never the text itself.",
    examples: ["svc logs -f", "svc logs --audit --lines 20"],
  })
    .option("-f, --follow", "keep printing lines as they are added")
    .option("-n, --lines <count>", "how many lines", String(LINES_DEFAULT))
    .option("--audit", "show the audit")
    .option("--json", "print the audit's lines as they are stored");
  const options = parseOptions(command, args).opts();
  if (!/^\d+$/.test(options.lines)) {
    throw new UsageError(`Cannot show "${options.lines}" lines: --lines takes a whole number.`);
  }
  if (options.json && !options.audit) {
    throw new UsageError("Cannot print the log as JSON: its lines are text. --json goes with --audit.");
  }
  const paths = await accountPaths();
  const path = options.audit ? paths.audit : paths.log;
  const format = options.audit && !options.json ? auditLine : (line: string): string => line;
  return await show(path, { follow: options.follow ?? false, count: Number(options.lines), format });
}

interface Showing {
  follow: boolean;
  count: number;
  format(line: string): string;
}

async function show(path: string, { follow, count, format }: Showing): Promise<number> {
  const current = await lastLines(path, count);
  const older = await rotatedLines(path, count - (current?.length ?? 0));
  const lines = [...older ?? [], ...(follow ? [] : current ?? [])];
  for (const line of lines) print(format(line));
  if (follow) return await followLines(path, { isWhole: (current?.length ?? 0) < count, count, format });
  if (current !== undefined || older !== undefined) return 0;
  printError(`Cannot show "${path}": nothing was written there yet. Start the listener with: svc cc`);
  return EXIT_FAILED;
}

/** The oldest first; undefined when there is no such file. */
async function lastLines(path: string, count: number): Promise<string[] | undefined> {
  const text = await runtime.files.readText(path);
  if (text === undefined) return undefined;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.slice(Math.max(0, lines.length - count));
}

/** The last lines of `<path>.1`, `<path>.2` and so on, the oldest first. While a file is rotated, one of them may be missing. */
async function rotatedLines(path: string, count: number): Promise<string[] | undefined> {
  let found: string[] | undefined;
  for (let age = 1, missing = 0; missing < 2; age++) {
    const wanted = count - (found?.length ?? 0);
    if (wanted <= 0) break;
    const lines = await lastLines(`${path}.${age}`, wanted);
    if (lines === undefined) missing++;
    else found = [...lines, ...found ?? []];
  }
  return found;
}

interface Following extends Omit<Showing, "follow"> {
  /** Begins with the first line, even if there are more than `count` by now. */
  isWhole: boolean;
}

/** `tail -F` handles files that are truncated, replaced or missing. */
async function followLines(path: string, { isWhole, count, format }: Following): Promise<number> {
  const tail = runtime.commands.pipe(["tail", "-n", isWhole ? "+1" : String(count), "-F", path]);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of tail.stdout) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) print(format(line));
  }
  return await tail.exited;
}

/**
 * An audit entry as one readable line: time, session, outcome, length, digest, device. Session and device are the relay's
 * words, which cannot add a line. Any other line is returned unchanged.
 */
export function auditLine(line: string): string {
  const entry = parseAuditLine(line);
  return entry === undefined ? line : inLine(describeEntry(entry));
}

function describeEntry(entry: AuditEntry): string {
  const { time, session, pane, outcome, length, digest, device, about } = entry;
  const what = about === undefined ? "" : `, ${about}`;
  return `[${time}] ${session} ${pane || "-"} ${outcome} — ${length} ${
    length === 1 ? "character" : "characters"
  } ${digest.slice(0, 12)} from ${device}${what}`;
}
