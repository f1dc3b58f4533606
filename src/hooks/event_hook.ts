/** The hook of every other event: reports the agent's state at once, and hands its words to the listener for the phones. */
import type { HookWords } from "../agents/hooks/types.ts";
import type { HookNews } from "../home/control_messages.ts";
import { readRemote, writeRemote } from "../home/remote_mode.ts";
import { tellDaemon } from "../home/tell_daemon.ts";
import { TITLE_MAX_CHARS } from "../protocol/limits.ts";
import { AGENT_LABELS, type AgentKind, projectName, sessionLabel } from "../protocol/names.ts";
import { toBodyText } from "./body_text.ts";
import type { HookCall, HookHost } from "./host.ts";
import { conversationOf, isMutedHere, remoteHome } from "./place.ts";
import { nextRemote, noticeWords } from "./remote_mode.ts";

/** A longer transcript is not read: the hook would take too long. */
export const TRANSCRIPT_MAX_BYTES = 16_000_000;

export async function eventHook(host: HookHost, call: HookCall): Promise<void> {
  const directory = call.hooks.directoryOf(call.input);
  if (directory === undefined) return;
  const { state, words, session } = call.hooks.meaning(call.event, call.input);
  if (session !== undefined) await followSession(host, call, { directory, kind: session });
  const news = words && await toNews(host, call, { directory, words });
  const report = { event: call.event, agent: call.kind, cwd: directory, session: host.session, state, news };
  await tellDaemon({ sockets: host.sockets, path: host.paths.socket }, { op: "hook", report });
}

async function followSession(
  host: HookHost,
  call: HookCall,
  { directory, kind }: { directory: string; kind: "compacted" | "ended" },
): Promise<void> {
  const conversation = conversationOf(call);
  if (conversation === undefined) return;
  const before = await readRemote(remoteHome(host), conversation);
  if (before === "off") return;
  const muted = await isMutedHere(host, directory);
  const { state, notice } = nextRemote(before, { kind, muted });
  if (notice !== undefined) host.print(call.hooks.contextOutput(call.event, noticeWords(notice)));
  if (state !== before) await writeRemote(remoteHome(host), conversation, state);
}

async function toNews(
  host: HookHost,
  call: HookCall,
  { directory, words }: { directory: string; words: HookWords },
): Promise<HookNews> {
  const text = words.text ?? await transcriptWords(host, call);
  const title = titleOf(call.kind, words.type, projectName(directory));
  return { type: words.type, title: title.slice(0, TITLE_MAX_CHARS), body: text && toBodyText(text) };
}

function titleOf(kind: AgentKind, type: HookWords["type"], project: string): string {
  const what = type === "agent.stop" ? "has finished" : "waits for you";
  return `${sessionLabel(project, AGENT_LABELS[kind], 1)} ${what}`;
}

async function transcriptWords(host: HookHost, { hooks, input }: HookCall): Promise<string | undefined> {
  const path = hooks.transcript?.pathOf(input);
  const info = path && await host.files.info(path);
  if (!path || !info || info.size > TRANSCRIPT_MAX_BYTES) return undefined;
  return hooks.transcript?.lastWords(await host.files.readText(path) ?? "");
}
