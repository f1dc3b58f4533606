/** The page's routes and sign-in links, both in the address's fragment. Back is the browser's own. */

export type Route =
  | { view: "picker" }
  | { view: "inbox" }
  /** Without `panel`, the terminal. */
  | { view: "session"; deviceId: string; session: string; panel?: "messages" };

/** A credential from a link or a QR code. It is in the fragment because browsers do not send that to a server. */
export type SignInLink =
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

/** `#pair=<code>&s=<secret>` or `#key=svc_…`. A code may come without a secret; other fields are ignored. */
export function parseSignInLink(fragment: string): SignInLink | undefined {
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
