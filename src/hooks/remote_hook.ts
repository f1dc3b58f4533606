/** The hook of a submitted prompt: tells the model when the user begins to drive from the phone, and when that ends. */
import { isFromSubagent } from "../agents/hooks.ts";
import { remoteName } from "../home/remote_mode.ts";
import { notifyDaemon } from "../home/notify_daemon.ts";
import { type Hook, type HookCall, type HookHost, reportOf } from "./run_hook.ts";

/** What lies in the home, by name; nothing where it cannot be read. */
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
  // An agent's prompt to one that it started: nobody typed it, and this agent's turn may have ended.
  if (isFromSubagent(input)) return;
  const [directory, id, prompt] = [hooks.directoryOf(input), hooks.sessionOf(input), hooks.promptOf(input)];
  if (directory === undefined || id === undefined || prompt === undefined) return;
  const conversation = { agent: kind, id };
  // The local user typed this, and no message from a phone is outstanding: there is nothing else to load.
  if (markers.length > 0 || remote.includes(await remoteName(conversation))) {
    const { followPrompt } = await import("./follow_remote.ts");
    await followPrompt(host, call, { directory, conversation, prompt });
  }
  const report = { ...reportOf(host, call, directory), state: "working" } as const;
  await notifyDaemon({ sockets: host.sockets, path: host.paths.socket }, { op: "hook", report });
}
