/** What the page needs from its browser: a name for the device, the visible height, a count in the title, and a service worker. */
import { STRINGS } from "./strings.ts";

/** The parts of `navigator` that name the device. Chromium reveals a phone's model only on request. */
interface BrowserFacts {
  userAgent: string;
  userAgentData?: { getHighEntropyValues(hints: string[]): Promise<{ model?: string }> };
}

/** User-agent patterns, tested in this order: Edge also matches `Chrome`, and both match `Safari`. */
const BROWSERS = { Edge: /\bEdg\//, Firefox: /\bFirefox\//, Chrome: /Chrome\//, Safari: /\bSafari\// };
const SYSTEMS = { Windows: /\bWindows\b/, Mac: /\bMacintosh\b/, Linux: /\bLinux\b/ };
/** Longer than any real model name: a browser may send any text. */
const MODEL_MAX_LENGTH = 60;

/** Returns the display name for the relay, by which users tell their devices apart. */
export async function deviceName({ userAgent, userAgentData }: BrowserFacts): Promise<string> {
  const { devices } = STRINGS;
  if (/iPhone/.test(userAgent)) return devices.iphone;
  if (/iPad/.test(userAgent)) return devices.ipad;
  if (/Android/.test(userAgent)) return await androidModel(userAgentData) ?? devices.android;
  const of = (signs: Record<string, RegExp>) =>
    Object.entries(signs).find(([, sign]) => sign.test(userAgent))?.[0];
  return [of(BROWSERS) ?? devices.browser, of(SYSTEMS)].filter((part) => part !== undefined).join(", ");
}

async function androidModel(data: BrowserFacts["userAgentData"]): Promise<string | undefined> {
  const { model = "" } = await data?.getHighEntropyValues(["model"]).catch(() => undefined) ?? {};
  return model.trim().slice(0, MODEL_MAX_LENGTH) || undefined;
}

/**
 * Keeps the page within the visible area: iOS draws the on-screen keyboard over the page, and scrolls the page to the
 * field. A session has fitted itself by then and is scrolled back; in other views the field would be out of sight.
 */
export function followVisibleHeight(window: Window): void {
  const viewport = window.visualViewport;
  if (viewport === null) return;
  const apply = (): void => {
    const isCovered = window.innerHeight - viewport.height > 1 && viewport.scale === 1;
    const { style } = window.document.documentElement;
    // An empty text removes the property.
    style.setProperty("--visible-height", isCovered ? `${viewport.height}px` : "");
    style.setProperty("--bottom", isCovered ? "0px" : "");
    if (isCovered && window.document.querySelector(".session")) window.scrollTo(0, 0);
  };
  viewport.addEventListener("resize", apply);
}

/** Undefined at first: the icon may still show the count of an earlier page. */
let shownCount: number | undefined;

/** Shows the count in the page's title and, where the app is installed, on its icon. */
export function showCount(count: number): void {
  if (count === shownCount) return;
  shownCount = count;
  const { longTitle } = STRINGS.app;
  document.title = count === 0 ? longTitle : `(${count}) ${longTitle}`;
  // Browsers without badges, or without the permission for them, do nothing.
  if ("setAppBadge" in navigator) void navigator.setAppBadge(count).catch(() => undefined);
}

/** The worker's file, next to the page. */
const WORKER = "service_worker.js";
/** The only Trusted Types policy that the relay allows. */
const POLICY = "svc";

interface Policy {
  createScriptURL(url: string): string;
}

interface TrustedTypes {
  createPolicy(name: string, rules: Policy): Policy;
}

/** Made once: the relay does not allow a second one of the same name. */
let policy: Policy | undefined;

/**
 * Registers the service worker. Undefined without support (no https, and not localhost) or if the script cannot be
 * loaded.
 */
export async function registerWorker(): Promise<ServiceWorkerRegistration | undefined> {
  // Undefined on pages that are not secure, which the type does not say.
  const container: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  try {
    return await container?.register(trusted(WORKER));
  } catch {
    return undefined;
  }
}

/** Wraps the name of the one script that the page loads by a string; the policy rejects any other. */
function trusted(script: string): string {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  const createScriptURL = (url: string): string => {
    if (url !== WORKER) throw new TypeError(`Cannot load "${url}": only ${WORKER} is loaded by its name`);
    return url;
  };
  policy ??= types?.createPolicy(POLICY, { createScriptURL });
  return policy?.createScriptURL(script) ?? script;
}

/** Offers the content as a file. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
