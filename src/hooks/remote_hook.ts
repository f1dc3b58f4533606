/** The hook of a submitted prompt: tells the model when the user begins to drive from the phone, and when that ends. */
import { takeMarker } from "../home/markers.ts";
import { readRemote, writeRemote } from "../home/remote_mode.ts";
import { tellDaemon } from "../home/tell_daemon.ts";
import type { HookCall, HookHost } from "./host.ts";
import { conversationOf, isMutedHere, remoteHome } from "./place.ts";
import { nextRemote, noticeWords } from "./remote_mode.ts";

/** Keyed by the directory in the input, never by the environment: some agents' hooks run in a shared server. */
export async function remoteHook(host: HookHost, call: HookCall): Promise<void> {
  const { hooks, event, input } = call;
  const directory = hooks.directoryOf(input);
  const conversation = conversationOf(call);
  const { prompt } = input;
  if (directory === undefined || conversation === undefined || typeof prompt !== "string") return;
  const { files, paths } = host;
  const [matched, before] = await Promise.all([
    takeMarker({ files, markers: paths.markers }, { dir: directory, text: prompt, now: host.now() }),
    readRemote(remoteHome(host), conversation),
  ]);
  // At the desk, where nothing has come from a phone, no more is read than this.
  const muted = (matched || before !== "off") && await isMutedHere(host, directory);
  const fromMachine = hooks.isFromMachine(input);
  const { state, notice } = nextRemote(before, { kind: "prompt", matched, fromMachine, muted });
  if (notice !== undefined) host.print(hooks.contextOutput(event, noticeWords(notice)));
  const report = {
    event,
    agent: call.kind,
    cwd: directory,
    session: host.session,
    state: "working",
  } as const;
  await Promise.all([
    state === before ? undefined : writeRemote(remoteHome(host), conversation, state),
    tellDaemon({ sockets: host.sockets, path: paths.socket }, { op: "hook", report }),
  ]);
}
