/** Checks the relay over its WebSocket, and the two clocks against each other. */
import { errorText } from "../../async/error_text.ts";
import { runtime } from "#runtime";
import { createNativeSocket, keyProtocols, type LinkSocket } from "../../client/socket.ts";
import { listenerApiKey, resolveWsUrl } from "../../home/addresses.ts";
import { encodeFrame, parseFrame } from "../../protocol/frames.ts";
import { VERSION } from "../../protocol/version.ts";
import { type Check, fault, type Finding, ok, warning } from "./check.ts";

/** How long connecting and greeting may take, in milliseconds. */
const GREETING_LIMIT_MS = 5_000;
/** Receipts and log lines are hard to read across clocks further apart, in milliseconds. */
const SKEW_MAX_MS = 30_000;

export const relaySocketCheck: Check = {
  name: "relay, WebSocket",
  async run({ inputs }) {
    if (inputs === undefined) return fault("not asked: the configuration cannot be read", "mend it first");
    try {
      const ws = resolveWsUrl(inputs);
      const apiKey = listenerApiKey(inputs);
      if (ws === undefined || apiKey === undefined) return fault("address or key is missing", "run svc up");
      return judgeSkew(await greet(ws.url, apiKey) - Date.now());
    } catch (error) {
      return fault(errorText(error), "see that the address and the key are right: svc logs");
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

/** The relay's clock. As a script: a second listener would push the first one off. */
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
