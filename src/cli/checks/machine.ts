/** Checks this machine: tmux and its servers, svc's home directory, the listener. */
import { runtime } from "#runtime";
import { errorText } from "../../async/error_text.ts";
import { daemonStatus, daemonVersion, isLockFree } from "../../home/daemon.ts";
import { decideDaemon } from "../../home/daemon_decision.ts";
import { looseEntries, secureHome } from "../../home/permissions.ts";
import { VERSION } from "../../protocol/version.ts";
import type { Files } from "../../runtime/types.ts";
import { TmuxDiscovery } from "../../tmux/discovery.ts";
import { tmuxEnvironment, withEnvironment } from "../../tmux/server.ts";
import { installedTmux, tmuxInstallHint, tmuxProblem } from "../../wrapper/preflight.ts";
import { daemonHost } from "../context.ts";
import { type Check, fault, ok, warning } from "./check.ts";

export const tmuxCheck: Check = {
  name: "tmux",
  async run() {
    const version = await installedTmux(runtime.commands);
    const problem = tmuxProblem(version);
    return problem === undefined
      ? ok(version ?? "")
      : fault(problem, await tmuxInstallHint(runtime.commands));
  },
};

const UNTRUSTED = "another account could answer there in place of tmux: remove it, or set SVC_TMUX_SOCKET";

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
    return warning(`no tmux server with sessions is running${where}`, "start an agent: svc cc");
  },
};

const OWN_HOME = "give it to your account, or set SVC_HOME";

/** Restores private modes where other accounts could read. */
export const modesCheck: Check = {
  name: "home",
  async run({ paths }) {
    const { files, uid } = runtime;
    const info = await files.info(paths.root);
    if (info === undefined) return ok(`${paths.root} does not exist yet`);
    if (!info.isDirectory) {
      return fault(
        `${paths.root} is not a directory`,
        "move it away, or set SVC_HOME to a directory of your own",
      );
    }
    const loose = await looseEntries(files, paths);
    try {
      await secureHome(files, { paths, uid });
      await tryWrite(files, paths.root);
    } catch (error) {
      return fault(errorText(error), OWN_HOME);
    }
    if (loose.length === 0) return ok(`${paths.root}, for this account alone`);
    const names = loose.map(({ path }) => path).join(", ");
    return warning(
      `others could read ${names}; fixed`,
      "make a new key if you do not trust everyone who could read it",
    );
  },
};

/** Throws Error when nothing can be written there: another owner, no space, a file system that is read-only. */
export async function tryWrite(
  files: Pick<Files, "createText" | "remove">,
  directory: string,
): Promise<void> {
  const path = `${directory}/.verify-${crypto.randomUUID()}`;
  try {
    await files.createText(path, "\n", { mode: 0o600 });
  } catch (error) {
    throw new Error(`Cannot write in "${directory}": ${errorText(error)}`);
  }
  await files.remove(path);
}

export const listenerCheck: Check = {
  name: "listener",
  async run({ paths }) {
    const host = daemonHost();
    const status = await daemonStatus(host, paths);
    if (status === undefined) {
      return await isLockFree(host.files, paths)
        ? warning("it is not running", "start an agent, which starts it: svc cc")
        : fault("it is running, but does not answer", "run: svc listener --restart");
    }
    const version = await daemonVersion(host, paths, status);
    if (decideDaemon({ running: version, installed: VERSION }).action === "restart") {
      return warning(
        `it is running v${version}, and v${VERSION} is installed`,
        "run: svc listener --restart",
      );
    }
    if (!status.connected) return fault(`it is not connected to ${status.wsUrl}`, "see: svc logs");
    return ok(`v${version}, process ${status.pid}, connected, ${status.sessions} session(s)`);
  },
};
