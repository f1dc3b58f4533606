/** The hook of every other event: reports state, tool calls and final messages to the listener; a tool call waits at its gate. */
import { toBodyText } from "../agents/body_text.ts";
import type { HookNotification } from "../agents/hooks.ts";
import type { HookNews } from "../home/control_messages.ts";
import { notifyDaemon, waitAtGate } from "../home/notify_daemon.ts";
import { TITLE_MAX_CHARS } from "../protocol/limits.ts";
import { AGENT_LABELS, type AgentKind, projectName, sessionLabel } from "../protocol/names.ts";
import { type Hook, type HookCall, type HookHost, reportOf } from "./run_hook.ts";

export const eventHook: Hook = (host) => (call) => takeEvent(host, call);

async function takeEvent(host: HookHost, call: HookCall): Promise<void> {
  const directory = call.hooks.directoryOf(call.input);
  if (directory === undefined) return;
  const { state, notification, session, tool } = call.hooks.meaning(call.event, call.input);
  if (session !== undefined) {
    const { followSession } = await import("./follow_remote.ts");
    await followSession(host, call, { directory, kind: session });
  }
  const news = notification && toNews(call, notification, projectName(directory));
  const report = { ...reportOf(host, call, directory), state, news, tool };
  const socket = { sockets: host.sockets, path: host.paths.socket };
  if (tool?.step === "before") await waitAtGate(socket, report);
  else await notifyDaemon(socket, { op: "hook", report });
}

function toNews(
  { kind, hooks, input }: HookCall,
  { type, text }: HookNotification,
  project: string,
): HookNews {
  const title = titleOf(kind, type, project).slice(0, TITLE_MAX_CHARS);
  if (text === undefined) return { type, title, transcript: hooks.transcript?.pathOf(input) };
  return { type, title, body: toBodyText(text) };
}

function titleOf(kind: AgentKind, type: HookNotification["type"], project: string): string {
  const what = type === "agent.stop" ? "has finished" : "waits for you";
  return `${sessionLabel(project, AGENT_LABELS[kind], 1)} ${what}`;
}
