/** Checks that the daemon lives, on the installed version, and is connected. */
import { daemonStatus, daemonVersion, isLockFree } from "../../home/daemon.ts";
import { decideDaemon } from "../../home/daemon_decision.ts";
import { daemonHost } from "../context.ts";
import { VERSION } from "../../protocol/version.ts";
import { type Check, fault, ok, warning } from "./check.ts";

export const listenerCheck: Check = {
  name: "listener",
  async run({ paths }) {
    const host = daemonHost();
    const status = await daemonStatus(host, paths);
    if (status === undefined) {
      return await isLockFree(host.files, paths)
        ? warning("it does not run", "start an agent, which starts it: svc cc")
        : fault("it runs, but does not answer", "run: svc listener --restart");
    }
    const version = await daemonVersion(host, paths, status);
    if (decideDaemon({ running: version, installed: VERSION }).action === "restart") {
      return warning(`it runs v${version}, v${VERSION} is installed`, "run: svc listener --restart");
    }
    if (!status.connected) return fault(`it is not connected to ${status.wsUrl}`, "see: svc logs");
    return ok(`v${version}, process ${status.pid}, connected, ${status.sessions} session(s)`);
  },
};
