/** Counts the outcomes of the messages of one row, from their receipts and from what the agents recorded. */
import type { FaultRow } from "../../scripts/prove/faults_table.ts";
import type { TranscriptEntry } from "../../src/echo/program.ts";
import { promptsIn } from "./agents_echo.ts";
import type { Message } from "./fault_load.ts";

type Counts = Omit<FaultRow, "fault" | "injected" | "shell" | "inHand">;

/** Returns the messages whose receipt says submitted although the agent has not recorded them. */
export function missing(messages: readonly Message[], transcript: readonly TranscriptEntry[]): Message[] {
  const prompts = promptsIn(transcript);
  return messages.filter(({ state, body }) => state === "submitted" && !prompts.includes(body));
}

/**
 * `transcripts`: by session, from the start of the row. `agentDied`: messages that an agent may have received without
 * recording them before it was killed.
 */
export function countMessages(
  messages: readonly Message[],
  { transcripts, agentDied }: {
    transcripts: ReadonlyMap<string, readonly TranscriptEntry[]>;
    agentDied: ReadonlySet<string>;
  },
): Counts {
  const counts: Counts = {
    sent: messages.length,
    submitted: 0,
    refused: 0,
    unknown: 0,
    died: 0,
    lost: 0,
    duplicated: 0,
    outOfOrder: 0,
    approved: 0,
  };
  for (const [session, transcript] of transcripts) {
    const ofSession = messages.filter((message) => message.session === session);
    for (const { id } of missing(ofSession, transcript)) counts[agentDied.has(id) ? "died" : "lost"]++;
    counts.approved += transcript.filter(answersDialog).length;
    countPrompts(counts, ofSession, promptsIn(transcript));
  }
  for (const message of messages) {
    // Typed into a pane without a profile, and not recorded by its agent.
    if (message.state === "typed") message.state = "unknown";
    counts[message.state ?? "lost"]++;
  }
  return counts;
}

/** Counts messages that arrived twice, out of order, or although they were refused. */
function countPrompts(counts: Counts, messages: readonly Message[], prompts: readonly string[]): void {
  const lines = new Set(messages.flatMap(({ body }) => body.split("\n")));
  // A prompt that is not of this row repeats a message of an earlier row, all of which have ended.
  counts.duplicated += prompts.filter((prompt) => !prompt.split("\n").some((line) => lines.has(line))).length;
  let last = -1;
  for (const message of messages) {
    const [line = ""] = message.body.split("\n");
    const times = prompts.filter((prompt) => prompt.split("\n").includes(line)).length;
    if (times > 1 || (times === 1 && message.state === "refused")) counts.duplicated++;
    const at = prompts.indexOf(message.body);
    if (at >= 0 && at < last) counts.outOfOrder++;
    last = Math.max(last, at);
    // No profile confirms a text in such a pane, but here the agent's record does.
    if (message.state === "typed" && at >= 0) message.state = "submitted";
  }
}

/** True for anything but the local user's rejection: an approval, or text of a message in the dialog. */
function answersDialog(entry: TranscriptEntry): boolean {
  return "dialogInput" in entry || ("approved" in entry && (entry.approved || entry.by !== "escape"));
}
