/** Where the page is, as the address's fragment says: the picker, the inbox, or one session. Back is the browser's own. */

export type Route =
  | { view: "picker" }
  | { view: "inbox" }
  /** Its terminal, or its messages. */
  | { view: "session"; deviceId: string; session: string; panel?: "messages" };

/** What a link or a QR code hands over in the fragment, which no browser sends to a server. */
export type Handover =
  | { kind: "pair"; code: string; secret?: string }
  | { kind: "key"; key: string };

export function parseRoute(fragment: string): Route {
  if (fragment === "#/inbox") return { view: "inbox" };
  const match = /^#\/s\/([^/]+)\/([^/]+)(\/messages)?$/.exec(fragment);
  const [deviceId, session] = [decode(match?.[1]), decode(match?.[2])];
  if (!deviceId || !session) return { view: "picker" };
  return { view: "session", deviceId, session, ...(match?.[3] ? { panel: "messages" } : {}) };
}

export function formatRoute(route: Route): string {
  if (route.view === "picker") return "#/";
  if (route.view === "inbox") return "#/inbox";
  const panel = route.panel === undefined ? "" : `/${route.panel}`;
  return `#/s/${encodeURIComponent(route.deviceId)}/${encodeURIComponent(route.session)}${panel}`;
}

/** `#pair=<code>&s=<secret>` or `#key=svc_…`; a code may come without a secret, and with more fields. */
export function parseHandover(fragment: string): Handover | undefined {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const code = fields.get("pair");
  const secret = fields.get("s");
  if (code) return { kind: "pair", code, ...(secret ? { secret } : {}) };
  const key = fields.get("key");
  return key ? { kind: "key", key } : undefined;
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
