/** Follows REMOTE mode of a conversation from event to event: decides, tells the model, keeps the state. */
import { takeMarker } from "../home/markers.ts";
import { isMuted, loadMuted } from "../home/muted.ts";
import { type Conversation, readRemote, type RemoteState, writeRemote } from "../home/remote_mode.ts";
import type { HookCall, HookHost } from "./host.ts";
import { nextRemote, noticeWords, type RemoteEvent } from "./remote_mode.ts";

export interface SubmittedPrompt {
  /** As the agent names it. */
  directory: string;
  conversation: Conversation;
  prompt: string;
}

export async function followPrompt(
  host: HookHost,
  call: HookCall,
  submitted: SubmittedPrompt,
): Promise<void> {
  const { directory, conversation, prompt } = submitted;
  const { files, paths } = host;
  const [matched, before] = await Promise.all([
    takeMarker({ files, markers: paths.markers }, { dir: directory, text: prompt, now: host.now() }),
    readRemote({ files, remote: paths.remote }, conversation),
  ]);
  const muted = (matched || before !== "off") && await isMutedHere(host, directory);
  const fromMachine = call.hooks.isFromMachine(call.input);
  await step(host, call, { conversation, before, event: { kind: "prompt", matched, fromMachine, muted } });
}

export async function followSession(
  host: HookHost,
  call: HookCall,
  { directory, kind }: { directory: string; kind: "compacted" | "ended" },
): Promise<void> {
  const id = call.hooks.sessionOf(call.input);
  if (id === undefined) return;
  const conversation = { agent: call.kind, id };
  const before = await readRemote({ files: host.files, remote: host.paths.remote }, conversation);
  if (before === "off") return;
  const event = { kind, muted: await isMutedHere(host, directory) };
  await step(host, call, { conversation, before, event });
}

interface Step {
  conversation: Conversation;
  before: RemoteState;
  event: RemoteEvent;
}

async function step(host: HookHost, call: HookCall, { conversation, before, event }: Step): Promise<void> {
  const { state, notice } = nextRemote(before, event);
  if (notice !== undefined) host.print(call.hooks.contextOutput(call.event, noticeWords(notice)));
  if (state === before) return;
  await writeRemote({ files: host.files, remote: host.paths.remote }, conversation, state);
}

async function isMutedHere({ files, paths }: HookHost, directory: string): Promise<boolean> {
  const muted = await loadMuted(files, paths);
  return muted.length > 0 && isMuted(muted, await files.realPath(directory) ?? directory);
}
