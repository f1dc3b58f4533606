/** Checks this machine: tmux and its servers, svc's home directory and configuration, the listener. */
import { runtime } from "#runtime";
import { errorText } from "../../async/error_text.ts";
import { daemonStatus, daemonVersion, isLockFree } from "../../home/daemon.ts";
import { decideDaemon } from "../../home/daemon_decision.ts";
import { looseEntries, secureHome } from "../../home/permissions.ts";
import { VERSION } from "../../protocol/version.ts";
import type { Files } from "../../runtime/types.ts";
import { installedTmux, tmuxInstallHint, tmuxProblem } from "../../wrapper/preflight.ts";
import { daemonHost } from "../context.ts";
import { type Check, fault, type Finding, NO_CONFIG, ok, warning } from "./check.ts";
import type { Sealing } from "../../crypto/mode.ts";
import { Config, listenerApiKey, loadConfig, resolveWsUrl } from "../../home/config.ts";
import { loadPaired, sealingFloor } from "../../home/paired.ts";
import { nearest } from "../nearest.ts";
import { tmuxSessions } from "../tmux_sessions.ts";

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
    const refused = new Map<string, string>();
    const sessions = await tmuxSessions((path, why) => void refused.set(path, why));
    const [first] = refused;
    if (first !== undefined) return fault(`"${first[0]}" is not used: ${first[1]}`, UNTRUSTED);
    const counts = Map.groupBy(sessions, (session) => session.socket);
    if (counts.size > 0) {
      return ok(Array.from(counts, ([socket, found]) => `${socket}: ${found.length} session(s)`).join(", "));
    }
    const explicit = runtime.env.get("SVC_TMUX_SOCKET");
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

export const configCheck: Check = {
  name: "configuration",
  async run({ paths }) {
    try {
      const inputs = { config: await loadConfig(runtime.files, paths), env: runtime.env.all() };
      const keys = judgeKeys(Object.keys(inputs.config), paths.config);
      // Before the missing values: the key that is missing may be the mistyped one.
      if (keys?.mark === "fault") return keys;
      const ws = resolveWsUrl(inputs);
      if (ws === undefined) {
        return fault("no relay is named", `run svc up, or put wsUrl into "${paths.config}"`);
      }
      if (!listenerApiKey(inputs)) {
        return fault("no API key is set", `run svc up, or put apiKey into "${paths.config}"`);
      }
      return keys ?? ok(`${ws.url} (${ws.source})`);
    } catch (error) {
      return fault(errorText(error), `fix "${paths.config}"`);
    }
  },
};

/** Undefined when svc knows every key. A key that is close to a known one is a typing error, so its setting has no effect. */
export function judgeKeys(keys: readonly string[], path: string): Finding | undefined {
  const known = Object.keys(Config.shape);
  const unknown = keys.filter((key) => !known.includes(key));
  const [typo, meant] = unknown.map((key) => [key, nearest(key, known)] as const)
    .find(([, guess]) => guess !== undefined) ?? [];
  if (typo !== undefined) {
    return fault(
      `"${typo}" is not a key of config.json and has no effect`,
      `rename it to "${meant}" in "${path}"`,
    );
  }
  if (unknown.length === 0) return undefined;
  const names = unknown.map((key) => `"${key}"`).join(", ");
  return warning(
    `svc does not know ${names}`,
    `remove what no other version of svc needs from "${path}"`,
  );
}

/** The deprecated variable (docs/specification.md, "Environment variables"). */
export const wsUrlVariableCheck: Check = {
  name: "SVC_WS_URL",
  run({ paths, inputs }) {
    const value = runtime.env.get("SVC_WS_URL");
    if (!value) return Promise.resolve(ok("not set"));
    const effect = inputs?.config.wsUrl ? "has no effect: wsUrl in the file wins" : "is read, but deprecated";
    return Promise.resolve(
      warning(
        `SVC_WS_URL is set to "${value}" and ${effect}`,
        `put wsUrl into "${paths.config}" and unset it`,
      ),
    );
  },
};

export const sealingCheck: Check = {
  name: "encryption",
  async run({ paths, inputs }) {
    if (inputs === undefined) return NO_CONFIG;
    try {
      const paired = await loadPaired(runtime.files, paths);
      return judgeFloor(sealingFloor(paired, inputs.config), paired.phones.length);
    } catch (error) {
      return fault(errorText(error), "run: svc pair");
    }
  },
};

/** `phones`: how many phones and scripts share a secret with this host. */
export function judgeFloor(floor: Sealing, phones: number): Finding {
  const paired = `${phones} paired phone(s)`;
  if (floor === "off") return ok(`${paired}; messages that are not sealed are accepted too`);
  if (phones > 0) return ok(`${paired}; messages must be sealed, at least "${floor}"`);
  return fault(`messages must be sealed ("${floor}"), and no phone is paired to do so`, "run: svc pair");
}
