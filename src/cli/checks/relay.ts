/** Checks the relay over HTTP and over its WebSocket, what the key may do there, and the two clocks against each other. */
import { runtime } from "#runtime";
import { errorText } from "../../async/error_text.ts";
import type { RelayApi } from "../../client/api.ts";
import { RelayError } from "../../client/relay_error.ts";
import { createNativeSocket, keyProtocols, type LinkSocket } from "../../client/socket.ts";
import { listenerApiKey, resolveWsUrl } from "../../home/config.ts";
import { encodeFrame, parseFrame } from "../../protocol/frames.ts";
import { VERSION } from "../../protocol/version.ts";
import { relayApi } from "../settings.ts";
import { type Check, fault, type Finding, NO_CONFIG, ok, warning } from "./check.ts";

const NEW_KEY = "make one: svc keys create --name NAME --scope push:read,push:send";

const CONFIGURE = "fix the configuration first";

export const relayCheck: Check = {
  name: "relay, HTTP",
  async run({ paths, inputs }) {
    if (inputs === undefined) return NO_CONFIG;
    try {
      const api = relayApi(paths, inputs);
      const { version } = await api.health();
      return ok(`v${version} at ${api.baseUrl}`);
    } catch (error) {
      if (!(error instanceof RelayError)) return fault(errorText(error), CONFIGURE);
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
    try {
      const api = relayApi(paths, inputs);
      await api.sessions();
      return await sendScope(api);
    } catch (error) {
      if (error instanceof RelayError && error.status === 0) {
        return fault("not checked: the relay does not answer", "fix that first");
      }
      return fault(errorText(error), error instanceof RelayError ? NEW_KEY : CONFIGURE);
    }
  },
};

/** A push without a session is refused for its fields, but only by a relay that let the key through. */
async function sendScope(api: RelayApi): Promise<Finding> {
  try {
    await api.sendPush({ type: "agent.command" });
  } catch (error) {
    if (error instanceof RelayError && error.code === "missing_scope") {
      return warning("it may read pushes but not send them: svc send will not work", NEW_KEY);
    }
    if (!(error instanceof RelayError) || error.code !== "invalid_push") throw error;
  }
  return ok("it may read and send pushes");
}

/** How long connecting and greeting may take, in milliseconds. */
const GREETING_LIMIT_MS = 5_000;
/** Receipts and log lines are hard to read across clocks further apart, in milliseconds. */
const SKEW_MAX_MS = 30_000;

export const relaySocketCheck: Check = {
  name: "relay, WebSocket",
  async run({ inputs }) {
    if (inputs === undefined) return NO_CONFIG;
    try {
      const ws = resolveWsUrl(inputs);
      const apiKey = listenerApiKey(inputs);
      if (ws === undefined || apiKey === undefined) return fault("address or key is missing", "run svc up");
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

/** The relay's clock. Connects as a script, because a second listener would displace the first. */
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
