/** The page's routes and sign-in links, both in the address's fragment. Going back is left to the browser. */

export type Route =
  | { view: "picker" }
  /** `item`: the push at which the list opens; `option`: the place of the option that a notification's button named. */
  | { view: "inbox"; item?: string; option?: number }
  | { view: "notifications" }
  | { view: "settings" }
  | { view: "add-host" }
  /** The audit log of a host. */
  | { view: "audit"; deviceId: string }
  /** Without `panel`, the terminal. */
  | {
    view: "session";
    deviceId: string;
    session: string;
    panel?: "messages";
    item?: string;
    option?: number;
  };

/** A credential from a link or a QR code. It is in the fragment because browsers do not send that to a server. */
export type SignInLink =
  | { kind: "pair"; code: string; secret?: string | undefined }
  | { kind: "key"; key: string };

/** The views that are named by a single word. */
const PLAIN = ["inbox", "notifications", "settings", "add-host"] as const;

export function parseRoute(fragment: string): Route {
  const inbox = /^#\/inbox\/([0-9a-f-]+)(?:\/(\d))?$/.exec(fragment);
  if (inbox?.[1]) return { view: "inbox", item: inbox[1], ...optionIn(inbox[2]) };
  const plain = PLAIN.find((view) => fragment === `#/${view}`);
  if (plain !== undefined) return { view: plain };
  const host = decode(/^#\/audit\/([^/]+)$/.exec(fragment)?.[1]);
  if (host) return { view: "audit", deviceId: host };
  const match = /^#\/s\/([^/]+)\/([^/]+)(\/messages)?(?:\/([0-9a-f-]+)(?:\/(\d))?)?$/.exec(fragment);
  const [deviceId, session] = [decode(match?.[1]), decode(match?.[2])];
  if (!deviceId || !session) return { view: "picker" };
  const item = match?.[3] && match[4] ? { item: match[4], ...optionIn(match[5]) } : {};
  return { view: "session", deviceId, session, ...(match?.[3] ? { panel: "messages" } : {}), ...item };
}

export function formatRoute(route: Route): string {
  if (route.view === "picker") return "#/";
  if (route.view === "audit") return `#/audit/${encodeURIComponent(route.deviceId)}`;
  const item = "item" in route && route.item !== undefined ? `/${route.item}${optionOf(route)}` : "";
  if (route.view !== "session") return `#/${route.view}${item}`;
  const panel = route.panel === undefined ? "" : `/${route.panel}${item}`;
  return `#/s/${encodeURIComponent(route.deviceId)}/${encodeURIComponent(route.session)}${panel}`;
}

/** The id of the push that a tapped notification opens. */
export function openedItem(route: Route): string | undefined {
  return "item" in route ? route.item : undefined;
}

function optionIn(digit: string | undefined): { option?: number } {
  return digit === undefined ? {} : { option: Number(digit) };
}

function optionOf({ option }: { option?: number | undefined }): string {
  return option === undefined ? "" : `/${option}`;
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

/** What a text from the camera or the clipboard means to a page at `pageUrl`. */
export type ReadLink =
  | { kind: "link"; link: SignInLink & { kind: "pair" } }
  /** A code of another relay must not be sent to this one, which could claim it there. */
  | { kind: "other_relay"; relay: string }
  | { kind: "none" };

/** Reads a pairing link. A link with an API key is not one: keys are entered on the sign-in page. */
export function readLink(text: string, pageUrl: string): ReadLink {
  const url = URL.parse(text.trim());
  const link = url === null || !/^https?:$/.test(url.protocol) ? undefined : parseSignInLink(url.hash);
  if (url === null || link?.kind !== "pair") return { kind: "none" };
  const relay = new URL(".", url).href;
  return relay === new URL(".", pageUrl).href ? { kind: "link", link } : { kind: "other_relay", relay };
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
