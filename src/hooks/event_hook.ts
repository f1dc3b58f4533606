/** The hook of every other event: reports the agent's state at once, and hands its words to the listener for the phones. */
import { toBodyText } from "../agents/hooks/body_text.ts";
import type { HookWords } from "../agents/hooks/types.ts";
import type { HookNews } from "../home/control_messages.ts";
import { readRemote, writeRemote } from "../home/remote_mode.ts";
import { tellDaemon } from "../home/tell_daemon.ts";
import { TITLE_MAX_CHARS } from "../protocol/limits.ts";
import { AGENT_LABELS, type AgentKind, projectName, sessionLabel } from "../protocol/names.ts";
import type { HookCall, HookHost } from "./host.ts";
import { conversationOf, isMutedHere, remoteHome } from "./place.ts";
import { nextRemote, noticeWords } from "./remote_mode.ts";

export async function eventHook(host: HookHost, call: HookCall): Promise<void> {
  const directory = call.hooks.directoryOf(call.input);
  if (directory === undefined) return;
  const { state, words, session } = call.hooks.meaning(call.event, call.input);
  if (session !== undefined) await followSession(host, call, { directory, kind: session });
  const news = words && toNews(call, words, projectName(directory));
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

function toNews({ kind, hooks, input }: HookCall, { type, text }: HookWords, project: string): HookNews {
  const title = titleOf(kind, type, project).slice(0, TITLE_MAX_CHARS);
  if (text === undefined) return { type, title, transcript: hooks.transcript?.pathOf(input) };
  return { type, title, body: toBodyText(text) };
}

function titleOf(kind: AgentKind, type: HookWords["type"], project: string): string {
  const what = type === "agent.stop" ? "has finished" : "waits for you";
  return `${sessionLabel(project, AGENT_LABELS[kind], 1)} ${what}`;
}
