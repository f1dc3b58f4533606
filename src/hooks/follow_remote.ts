/** Updates the REMOTE mode of a conversation at each event: decides, instructs the model and stores the state. */
import type { AgentHooks, HookInput } from "../agents/hooks.ts";
import { sha256Hex } from "../async/encodings.ts";
import { readStateText } from "../home/damage.ts";
import { bootTime, takeMarker } from "../home/markers.ts";
import { isAnyMuted } from "../home/muted.ts";
import type { HomePaths } from "../home/paths.ts";
import type { AgentKind } from "../protocol/names.ts";
import type { Files } from "../runtime/types.ts";

export interface RemoteHost {
  files: Files;
  paths: HomePaths;
  /** `TMUX_PANE`: the pane in which the agent runs, `%<n>`. */
  pane: string | undefined;
  /**
   * `SVC_SESSION`, which the wrapper sets: `TMUX_PANE` is then the agent's own. Without it, a hook may run in a server
   * that agents in several panes share.
   */
  session?: string | undefined;
  /** The resolved path of the socket of that pane's tmux server. */
  tmuxSocket?: string | undefined;
  /** That server's process id. */
  tmuxServer?: number | undefined;
  /** Epoch milliseconds. */
  now(): number;
  /** Gives the text to the agent. */
  print(text: string): void;
}

/** A run of an agent's hook, with the agent's input. */
export interface HookCall {
  kind: AgentKind;
  hooks: AgentHooks;
  /** The agent's name for the event. */
  event: string;
  input: HookInput;
}

export interface SubmittedPrompt {
  /** As the agent writes it. */
  directory: string;
  conversation: Conversation;
  prompt: string;
}

export async function followPrompt(
  host: RemoteHost,
  call: HookCall,
  submitted: SubmittedPrompt,
): Promise<void> {
  const { directory, conversation, prompt } = submitted;
  const { files, paths } = host;
  const [matched, before] = await Promise.all([
    takeMarker(
      { files, markers: paths.markers, bootTime: () => bootTime(files) },
      {
        dir: directory,
        text: prompt,
        now: host.now(),
        pane: host.pane,
        socket: host.tmuxSocket,
        server: host.tmuxServer,
        isPaneSure: host.session !== undefined,
      },
    ),
    readRemote({ files, remote: paths.remote }, conversation),
  ]);
  const muted = (matched || before !== "off") && await isAnyMuted(host.files, host.paths, [directory]);
  const fromMachine = call.hooks.isFromMachine(call.input);
  await step(host, call, { conversation, before, event: { kind: "prompt", matched, fromMachine, muted } });
}

export async function followSession(
  host: RemoteHost,
  call: HookCall,
  { directory, kind }: { directory: string; kind: "compacted" | "ended" },
): Promise<void> {
  const id = call.hooks.sessionOf(call.input);
  if (id === undefined) return;
  const conversation = { agent: call.kind, id };
  const before = await readRemote({ files: host.files, remote: host.paths.remote }, conversation);
  if (before === "off") return;
  const event = { kind, muted: await isAnyMuted(host.files, host.paths, [directory]) };
  await step(host, call, { conversation, before, event });
}

interface Step {
  conversation: Conversation;
  before: RemoteState;
  event: RemoteEvent;
}

async function step(host: RemoteHost, call: HookCall, { conversation, before, event }: Step): Promise<void> {
  const { state, notice } = nextRemote(before, event);
  if (notice !== undefined) host.print(call.hooks.contextOutput(call.event, noticeText(notice)));
  if (state === before) return;
  await writeRemote({ files: host.files, remote: host.paths.remote }, conversation, state);
}

export type RemoteEvent =
  /** A prompt was submitted. `matched`: a marker matches it, so it came from the phone. */
  | { kind: "prompt"; matched: boolean; fromMachine: boolean; muted: boolean }
  /** The model has lost its instructions. */
  | { kind: "compacted"; muted: boolean }
  | { kind: "ended" };

/** `phone`: the user drives from the phone. `keyboard`: someone is back at the keyboard. `muted`: `svc mute` ended it. */
export type Notice = "phone" | "keyboard" | "muted";

export interface RemoteStep {
  state: RemoteState;
  notice: Notice | undefined;
}

export function nextRemote(state: RemoteState, event: RemoteEvent): RemoteStep {
  switch (event.kind) {
    case "prompt":
      return afterPrompt(state, event);
    case "compacted":
      if (state !== "on" || event.muted) return { state, notice: undefined };
      return { state, notice: "phone" };
    case "ended":
      // The conversation may be resumed, and its history still says that the user drives from the phone.
      return { state: state === "on" ? "untold" : state, notice: undefined };
  }
}

function afterPrompt(state: RemoteState, event: RemoteEvent & { kind: "prompt" }): RemoteStep {
  if (event.muted) return { state: "off", notice: state === "off" ? undefined : "muted" };
  if (event.matched) return { state: "on", notice: "phone" };
  if (event.fromMachine) return { state, notice: undefined };
  return { state: "off", notice: state === "off" ? undefined : "keyboard" };
}

const NOTICES: Record<Notice, string> = {
  phone: [
    "svc REMOTE mode: the user drives this session from their phone and does not see this terminal.",
    "Until you are told otherwise, end every response by calling the MCP tool svc_ask:",
    "put your result into its question, in short, and ask what to do next, with options where they help.",
  ].join(" "),
  keyboard: [
    "svc REMOTE mode has ended: the user is back at the keyboard and reads this terminal.",
    "Answer here as usual, and do not end responses with svc_ask any more.",
  ].join(" "),
  muted: [
    "svc REMOTE mode has ended: the user muted this project.",
    "Answer here as usual, and do not call svc_ask any more.",
  ].join(" "),
};

/** The text for the model. */
export function noticeText(notice: Notice): string {
  return NOTICES[notice];
}

/**
 * `on`: the model was informed that the user drives from the phone. `untold`: that has ended, and the model was not
 * informed of it yet. `off`: neither.
 */
export type RemoteState = "off" | "on" | "untold";

/** A small file for each conversation in REMOTE mode, because every prompt runs a new hook process. */
export interface RemoteHome {
  files: Files;
  /** The directory of the files. */
  remote: string;
}

/** A conversation, with the id that its agent gives it. */
export interface Conversation {
  agent: string;
  id: string;
}

/** Agents keep conversations for weeks; beyond this many, the oldest states are removed. */
export const CONVERSATIONS_MAX = 200;

export async function readRemote(home: RemoteHome, conversation: Conversation): Promise<RemoteState> {
  const path = `${home.remote}/${await remoteName(conversation)}`;
  const word = (await readStateText(home.files, path))?.trim();
  return word === "on" || word === "untold" ? word : "off";
}

export async function writeRemote(
  home: RemoteHome,
  conversation: Conversation,
  state: RemoteState,
): Promise<void> {
  const path = `${home.remote}/${await remoteName(conversation)}`;
  if (state === "off") return void await home.files.remove(path);
  await home.files.makeDirectory(home.remote, { mode: 0o700 });
  await sweep(home);
  await home.files.writeText(path, `${state}\n`, { mode: 0o600 });
}

/**
 * The name of the conversation's file, which exists unless the state is `off`. The ids are usually UUIDs; any other id is
 * hashed, so that it cannot name another path.
 */
export async function remoteName({ agent, id }: Conversation): Promise<string> {
  const isPlain = /^[\w-]{1,100}$/.test(id);
  return `${agent}.${isPlain ? id : await sha256Hex(id)}`;
}

async function sweep({ files, remote }: RemoteHome): Promise<void> {
  const names = await files.list(remote);
  if (names.length < CONVERSATIONS_MAX) return;
  const aged = await Promise.all(names.map(async (name) => {
    const path = `${remote}/${name}`;
    return { path, at: (await files.info(path))?.mtimeMs ?? 0 };
  }));
  const surplus = aged.sort((one, other) => one.at - other.at).slice(0, aged.length + 1 - CONVERSATIONS_MAX);
  await Promise.all(surplus.map(({ path }) => files.remove(path)));
}
