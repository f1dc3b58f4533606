/** The relay's two addresses, each found from the other. */

const WS_PATH = "/ws";

/**
 * The HTTP base address of a WebSocket address: the scheme is exchanged, a last path segment `ws` is dropped, every
 * other path is kept (`wss://host/stage` belongs to `https://host/stage`). No slash at the end, no query, no fragment.
 */
export function httpBaseFromWs(wsUrl: string): string {
  const url = parseAddress(wsUrl, { "ws:": "http:", "wss:": "https:", "http:": "http:", "https:": "https:" });
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path.endsWith(WS_PATH) ? path.slice(0, -WS_PATH.length) : path);
}

/** The WebSocket address under a base address: `{base}/ws`. */
export function wsFromHttpBase(baseUrl: string): string {
  const url = parseAddress(baseUrl, { "http:": "http:", "https:": "https:" });
  const base = url.origin + url.pathname.replace(/\/+$/, "");
  return base.replace(/^http/, "ws") + WS_PATH;
}

/** Parses `text` and exchanges its scheme. URL keeps the origin only of http and https, hence the detour. */
function parseAddress(text: string, schemes: Record<string, string>): URL {
  const scheme = /^[a-z]+:/i.exec(text)?.[0].toLowerCase() ?? "";
  const exchanged = schemes[scheme];
  if (exchanged === undefined || !URL.canParse(text)) {
    const accepted = Object.keys(schemes).map((name) => `${name}//host/path`).join(", ");
    throw new TypeError(
      `Cannot use the relay address "${text}": it is no address of a form that is accepted: ${accepted}`,
    );
  }
  return new URL(exchanged + text.slice(scheme.length));
}
