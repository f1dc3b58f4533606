/** The hook of a submitted prompt: informs the model when the user starts to drive from the phone, and when that ends. */
import { isFromSubagent } from "../agents/hooks.ts";
import { remoteName } from "../home/remote_mode.ts";
import { notifyDaemon } from "../home/notify_daemon.ts";
import { type Hook, type HookCall, type HookHost, reportOf } from "./run_hook.ts";

/** The names of the markers and states in the home; none if it cannot be read. */
interface Outstanding {
  markers: string[];
  remote: string[];
}

export const remoteHook: Hook = (host) => {
  const outstanding = readOutstanding(host);
  return async (call) => await takePrompt(host, call, await outstanding);
};

async function readOutstanding({ files, paths }: HookHost): Promise<Outstanding> {
  const list = (path: string): Promise<string[]> => files.list(path).catch(() => []);
  const [markers, remote] = await Promise.all([list(paths.markers), list(paths.remote)]);
  return { markers, remote };
}

/** Keyed by the directory in the input, never by the environment: some agents' hooks run in a shared server. */
async function takePrompt(host: HookHost, call: HookCall, { markers, remote }: Outstanding): Promise<void> {
  const { kind, hooks, input } = call;
  // A prompt to a subagent: nobody typed it, and the agent's own turn may have ended.
  if (isFromSubagent(input)) return;
  const [directory, id, prompt] = [hooks.directoryOf(input), hooks.sessionOf(input), hooks.promptOf(input)];
  if (directory === undefined || id === undefined || prompt === undefined) return;
  const conversation = { agent: kind, id };
  // Otherwise the local user typed this and no message from a phone is outstanding, so nothing else is loaded.
  if (markers.length > 0 || remote.includes(await remoteName(conversation))) {
    const { followPrompt } = await import("./follow_remote.ts");
    await followPrompt(host, call, { directory, conversation, prompt });
  }
  const report = { ...reportOf(host, call, directory), state: "working" } as const;
  await notifyDaemon({ sockets: host.sockets, path: host.paths.socket }, { op: "hook", report });
}
