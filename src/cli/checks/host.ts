/** Checks this host: tmux, svc's home and configuration, the listener, the way to the relay, the key and the clocks. */
import { runtime } from "#runtime";
import { folderOf } from "../../runtime/system.ts";
import { errorText } from "../../async/error_text.ts";
import { daemonStatus, daemonVersion, isLockFree } from "../../home/daemon.ts";
import { decideDaemon } from "../../home/daemon_decision.ts";
import { checkHome, looseEntries, secureHome } from "../../home/permissions.ts";
import { VERSION } from "../../protocol/version.ts";
import type { Files } from "../../runtime/types.ts";
import { installedTmux, tmuxInstallHint, tmuxProblem } from "../../wrapper/preflight.ts";
import type { Sealing } from "../../crypto/mode.ts";
import {
  type AddressInputs,
  Config,
  hostApiKey,
  listenerApiKey,
  loadConfig,
  resolveBaseUrl,
  resolveWsUrl,
} from "../../home/config.ts";
import { loadIdentity, loadPaired, sealingFloor } from "../../home/pairing.ts";
import type { HomePaths } from "../../home/paths.ts";
import type { RelayApi } from "../../client/api.ts";
import { certificateFault } from "../../client/certificate_fault.ts";
import { RelayError } from "../../client/relay_error.ts";
import { createNativeSocket, keyProtocols, type LinkSocket } from "../../client/relay_link.ts";
import { encodeFrame, parseFrame } from "../../protocol/frames.ts";
import { tmuxSessions } from "../../tmux/discovery.ts";
import { daemonHost } from "../context.ts";
import { isFull, MAKE_ROOM, nearest, OWN_HOME } from "../advice.ts";
import { relayApi } from "../settings.ts";
import { type Check, fault, type Finding, NO_CONFIG, ok, warning } from "./check.ts";

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

/** Restores private modes where other accounts could read. */
export const modesCheck: Check = {
  name: "home",
  async run({ paths }) {
    const { files, uid } = runtime;
    const info = await files.info(paths.root);
    if (info === undefined) return await absentHome(paths.root);
    if (!info.isDirectory) {
      return fault(
        `${paths.root} is not a directory`,
        "move it away, or set SVC_HOME to a directory of your own",
      );
    }
    try {
      await checkHome(files, paths);
    } catch (error) {
      return fault(errorText(error), "set SVC_HOME to a new or empty directory");
    }
    const loose = await looseEntries(files, paths);
    try {
      await secureHome(files, { paths, uid });
      await tryWrite(files, paths.root);
    } catch (error) {
      return fault(errorText(error), isFull(error) ? MAKE_ROOM : OWN_HOME);
    }
    if (loose.length === 0) return ok(`${paths.root}, for this account alone`);
    const names = loose.map(({ path }) => path).join(", ");
    return warning(
      `others could read ${names}; fixed`,
      "make a new key if you do not trust everyone who could read it",
    );
  },
};

/** The folder is made when it is first needed, so the closest one above it that exists must be writable. */
async function absentHome(root: string): Promise<Finding> {
  try {
    await tryWrite(runtime.files, await closestAbove(root));
    return ok(`${root} does not exist yet`);
  } catch (error) {
    return fault(`${root} cannot be made: ${errorText(error)}`, isFull(error) ? MAKE_ROOM : OWN_HOME);
  }
}

async function closestAbove(path: string): Promise<string> {
  const above = folderOf(path);
  const isThere = above === "/" || await runtime.files.info(above) !== undefined;
  return isThere ? above : await closestAbove(above);
}

/** Throws Error when nothing can be written there: another owner, no space, a read-only file system. */
export async function tryWrite(
  files: Pick<Files, "createText" | "remove">,
  directory: string,
): Promise<void> {
  const path = `${directory}/.verify-${crypto.randomUUID()}`;
  try {
    await files.createText(path, "\n", { mode: 0o600 });
  } catch (error) {
    throw new Error(`Cannot write in "${directory}": ${errorText(error)}`, { cause: error });
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

/** Undefined when svc knows every key. A key that is close to a known one is a typo, so its setting has no effect. */
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
      // Throws if it is damaged. Without phones a new one is made when it is needed.
      const hasKey = await loadIdentity(runtime.files, paths) !== undefined;
      if (!hasKey && paired.phones.length > 0) {
        return fault(
          "this host's key is gone: it opens nothing that a paired phone seals",
          "pair each phone again: svc pair",
        );
      }
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

function newKey({ config }: HomePaths): string {
  return `make one: svc keys create --name NAME --scope push:read,push:send. Put it into "${config}" as apiKey, then run: svc listener --restart`;
}

const CONFIGURE = "fix the configuration first";

const UNUSABLE_ADDRESS = fault("not checked: the relay's address cannot be used", "fix that first");

/** What the configuration lacks to reach the relay; only the configuration's check reports the cause and its fix. */
function configGap(
  inputs: AddressInputs,
  addressOf: (inputs: AddressInputs) => unknown,
): Finding | undefined {
  try {
    resolveWsUrl(inputs);
  } catch {
    return UNUSABLE_ADDRESS;
  }
  if (addressOf(inputs) === undefined) return fault("not checked: no relay is named", CONFIGURE);
  if (!listenerApiKey(inputs)) return fault("not checked: no API key is set", CONFIGURE);
  return undefined;
}

function hasUsableBaseUrl(inputs: AddressInputs): boolean {
  try {
    resolveBaseUrl(inputs);
    return true;
  } catch {
    return false;
  }
}

export const relayCheck: Check = {
  name: "relay, HTTP",
  async run({ paths, inputs }) {
    if (inputs === undefined) return NO_CONFIG;
    try {
      const gap = configGap(inputs, resolveBaseUrl);
      if (gap !== undefined) return gap;
      const api = relayApi(paths, inputs);
      const { version } = await api.health();
      return ok(`v${version} at ${api.baseUrl}`);
    } catch (error) {
      if (!(error instanceof RelayError)) return fault(errorText(error), CONFIGURE);
      const distrust = certificateFault(error);
      if (distrust !== undefined) return fault(`the relay is not trusted: ${distrust.why}`, distrust.fix);
      return fault(
        errorText(error),
        "check that the relay runs there (svc up or svc server), and that the address is right",
      );
    }
  },
};

export const keyCheck: Check = {
  name: "key",
  async run({ paths, inputs }) {
    if (inputs === undefined) return NO_CONFIG;
    // The check of the relay over HTTP, above, gives the cause.
    if (!hasUsableBaseUrl(inputs)) return UNUSABLE_ADDRESS;
    try {
      const gap = configGap(inputs, resolveBaseUrl);
      if (gap !== undefined) return gap;
      const api = relayApi(paths, inputs);
      await api.sessions();
      return withSource(await sendScope(api, paths), inputs);
    } catch (error) {
      if (error instanceof RelayError && error.status === 0) {
        return fault("not checked: the relay does not answer", "fix that first");
      }
      if (!(error instanceof RelayError)) return fault(errorText(error), CONFIGURE);
      const isKeys = ["unauthenticated", "missing_scope"].includes(error.code);
      if (!isKeys) return fault(`not checked: ${errorText(error)}`, "when the relay answers: svc verify");
      return withSource(fault(errorText(error), newKey(paths)), inputs);
    }
  },
};

/** Adds the key's source, unless it is the configuration. */
function withSource(finding: Finding, inputs: AddressInputs): Finding {
  if (!hostApiKey(inputs)?.isVariable) return finding;
  return { ...finding, finding: `${finding.finding} (the key in SVC_API_KEY)` };
}

/** Sends a push without a session: a relay refuses its fields only if the key may send. */
async function sendScope(api: RelayApi, paths: HomePaths): Promise<Finding> {
  try {
    await api.sendPush({ type: "agent.command" });
  } catch (error) {
    if (error instanceof RelayError && error.code === "missing_scope") {
      return warning(
        "it may read pushes but not send them: svc send, questions, cards and notifications will not work",
        newKey(paths),
      );
    }
    if (!(error instanceof RelayError) || error.code !== "invalid_push") throw error;
  }
  return ok("it may read and send pushes");
}

/** How long connecting and greeting may take, in milliseconds. */
const GREETING_LIMIT_MS = 10_000;
/** If the clocks are further apart, receipts and log lines are hard to compare, in milliseconds. */
const SKEW_MAX_MS = 30_000;

export const relaySocketCheck: Check = {
  name: "relay, WebSocket",
  async run({ inputs }) {
    if (inputs === undefined) return NO_CONFIG;
    try {
      const gap = configGap(inputs, resolveWsUrl);
      if (gap !== undefined) return gap;
      const [ws, apiKey] = [resolveWsUrl(inputs), listenerApiKey(inputs)];
      if (ws === undefined || apiKey === undefined) return NO_CONFIG;
      return judgeSkew(await greet(ws.url, apiKey) - Date.now());
    } catch (error) {
      return fault(errorText(error), "check the address and the key, and see: svc logs");
    }
  },
};

export function judgeSkew(skewMs: number): Finding {
  if (Math.abs(skewMs) <= SKEW_MAX_MS) return ok("it answers, and the clocks agree");
  const side = skewMs > 0 ? "behind" : "ahead of";
  return warning(
    `it answers; this clock is ${Math.round(Math.abs(skewMs) / 1_000)} s ${side} the relay's`,
    "set the clock: timedatectl set-ntp true",
  );
}

/** Resolves with the relay's clock. Connects as a script, because a second listener would displace the first. */
async function greet(wsUrl: string, apiKey: string): Promise<number> {
  let socket: LinkSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<number>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`Cannot open "${wsUrl}": ${why}`));
      timer = setTimeout(() => fail(`no answer in ${GREETING_LIMIT_MS / 1_000} s`), GREETING_LIMIT_MS);
      socket = createNativeSocket(wsUrl, keyProtocols(apiKey), {
        opened: () => socket?.send(hello()),
        text(text) {
          const frame = parseFrame(text);
          if (!("fault" in frame) && frame.event === "welcome") resolve(frame.data.now);
        },
        bytes: () => {},
        ended: ({ code, reason }) => fail(`it was closed with ${code}${reason && `, ${reason}`}`),
      });
    });
  } finally {
    clearTimeout(timer);
    socket?.close();
  }
}

function hello(): string {
  return encodeFrame("hello", {
    role: "script",
    name: `svc verify on ${runtime.hostname()}`,
    version: VERSION,
    capabilities: [],
  });
}
