/** Checks which tmux servers the listener finds, and where. */
import { runtime } from "#runtime";
import { TmuxDiscovery } from "../../tmux/discovery.ts";
import { type Check, ok, warning } from "./check.ts";

export const tmuxSocketsCheck: Check = {
  name: "tmux servers",
  async run() {
    const { uid, env, files, commands } = runtime;
    const discovery = new TmuxDiscovery({ uid, env, files, commands }, {
      now: Date.now,
      openServer: () => undefined,
    });
    const sessions = await discovery.sessions({ deep: true });
    const counts = Map.groupBy(sessions, (session) => session.socket);
    if (counts.size > 0) {
      return ok(Array.from(counts, ([socket, found]) => `${socket}: ${found.length} session(s)`).join(", "));
    }
    const explicit = env.get("SVC_TMUX_SOCKET");
    const where = explicit ? ` at SVC_TMUX_SOCKET "${explicit}"` : "";
    return warning(`no tmux server with sessions runs${where}`, "start an agent: svc cc");
  },
};
