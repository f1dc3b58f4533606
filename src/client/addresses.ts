/** Converts between the relay's HTTP and WebSocket addresses. */

const WS_PATH = "/ws";

/**
 * The HTTP base address for a WebSocket address: with an HTTP scheme, without a final path segment `ws`, and otherwise
 * with the same path (`wss://host/stage` gives `https://host/stage`). Without trailing slash, query or fragment. Throws
 * TypeError for any other address.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { httpBaseFromWs, wsFromHttpBase } from "@svc/svc";
 *
 * assert.equal(httpBaseFromWs("wss://relay.example/ws"), "https://relay.example");
 * assert.equal(wsFromHttpBase("https://relay.example"), "wss://relay.example/ws");
 * ```
 */
export function httpBaseFromWs(wsUrl: string): string {
  const url = parseAddress(wsUrl, { "ws:": "http:", "wss:": "https:", "http:": "http:", "https:": "https:" });
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path.endsWith(WS_PATH) ? path.slice(0, -WS_PATH.length) : path);
}

/** The WebSocket address under a base address: `{base}/ws`. Throws TypeError for any other address. */
export function wsFromHttpBase(baseUrl: string): string {
  const url = parseAddress(baseUrl, { "http:": "http:", "https:": "https:" });
  const base = url.origin + url.pathname.replace(/\/+$/, "");
  return base.replace(/^http/, "ws") + WS_PATH;
}

/** Parses `text` with its scheme replaced. Replacing comes first because URL gives an origin only for http and https. */
function parseAddress(text: string, schemes: Record<string, string>): URL {
  const scheme = /^[a-z]+:/i.exec(text)?.[0].toLowerCase() ?? "";
  const replaced = schemes[scheme];
  if (replaced === undefined || !URL.canParse(text)) {
    const accepted = Object.keys(schemes).map((name) => `${name}//host/path`).join(", ");
    throw new TypeError(
      `Cannot use the relay address "${text}": accepted forms are ${accepted}`,
    );
  }
  return new URL(replaced + text.slice(scheme.length));
}
