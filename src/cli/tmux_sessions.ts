/** Every tmux session of this account, on every server that the listener would use. */
import { runtime } from "#runtime";
import { TmuxDiscovery } from "../tmux/discovery.ts";
import { tmuxEnvironment, withEnvironment } from "../tmux/server.ts";
import type { TmuxSession } from "../tmux/sessions.ts";

/** `distrusted` is called for each socket that is not used, with the reason. */
export async function tmuxSessions(
  distrusted: (path: string, why: string) => void = () => {},
): Promise<TmuxSession[]> {
  const { uid, env, files } = runtime;
  const commands = withEnvironment(runtime.commands, tmuxEnvironment(env.all()));
  const discovery = new TmuxDiscovery({ uid, env, files, commands, distrusted }, {
    now: Date.now,
    openServer: () => undefined,
  });
  return await discovery.sessions({ deep: true });
}
