/** Checks which tmux servers the listener finds, and where. */
import { runtime } from "#runtime";
import { TmuxDiscovery } from "../../tmux/discovery.ts";
import { tmuxEnvironment, withEnvironment } from "../../tmux/server.ts";
import { type Check, fault, ok, warning } from "./check.ts";

const UNTRUSTED = "another account could answer there in tmux's place: remove it, or set SVC_TMUX_SOCKET";

export const tmuxSocketsCheck: Check = {
  name: "tmux servers",
  async run() {
    const { uid, env, files } = runtime;
    const commands = withEnvironment(runtime.commands, tmuxEnvironment(env.all()));
    const refused = new Map<string, string>();
    const distrusted = (path: string, why: string): void => void refused.set(path, why);
    const discovery = new TmuxDiscovery({ uid, env, files, commands, distrusted }, {
      now: Date.now,
      openServer: () => undefined,
    });
    const sessions = await discovery.sessions({ deep: true });
    const [first] = refused;
    if (first !== undefined) return fault(`"${first[0]}" is not used: ${first[1]}`, UNTRUSTED);
    const counts = Map.groupBy(sessions, (session) => session.socket);
    if (counts.size > 0) {
      return ok(Array.from(counts, ([socket, found]) => `${socket}: ${found.length} session(s)`).join(", "));
    }
    const explicit = env.get("SVC_TMUX_SOCKET");
    const where = explicit ? ` at SVC_TMUX_SOCKET "${explicit}"` : "";
    return warning(`no tmux server with sessions runs${where}`, "start an agent: svc cc");
  },
};
