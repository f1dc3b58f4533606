/** What the page needs from its browser: a name for the device, the visible height, a count in the title, and a service worker. */
import { STRINGS } from "./strings.ts";

/** What `navigator` may have beside its user agent: Chromium tells a phone's model only on request. */
interface BrowserFacts {
  userAgent: string;
  userAgentData?: { getHighEntropyValues(hints: string[]): Promise<{ model?: string }> };
}

/** Their signs in the user agent, in this order: each of the others also says `Safari`. */
const BROWSERS = { Edge: /\bEdg\//, Firefox: /\bFirefox\//, Chrome: /Chrome\//, Safari: /\bSafari\// };
const SYSTEMS = { Windows: /\bWindows\b/, Mac: /\bMacintosh\b/, Linux: /\bLinux\b/ };
/** Longer than any name on the market: a browser may say what it likes. */
const MODEL_MAX_LENGTH = 60;

/** The display name that the phone gives the relay: what tells one of the user's devices from another. */
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

/** Keeps the page within the visible area: iOS draws the on-screen keyboard over the page. */
export function followVisibleHeight(window: Window): void {
  const viewport = window.visualViewport;
  if (viewport === null) return;
  const apply = (): void => {
    const covered = window.innerHeight - viewport.height;
    const { style } = window.document.documentElement;
    if (covered > 1 && viewport.scale === 1) {
      style.setProperty("--visible-height", `${viewport.height}px`);
      style.setProperty("--bottom", "0px");
    } else for (const name of ["--visible-height", "--bottom"]) style.removeProperty(name);
    if (covered > 1) window.scrollTo(0, 0);
  };
  viewport.addEventListener("resize", apply);
}

/** Undefined at first: the icon may still show the count of an earlier page. */
let shownCount: number | undefined;

/** Counts what waits for the user in the page's title and, where the app is installed, on its icon. */
export function showCount(count: number): void {
  if (count === shownCount) return;
  shownCount = count;
  const { longTitle } = STRINGS.app;
  document.title = count === 0 ? longTitle : `(${count}) ${longTitle}`;
  // Browsers without badges, or without the permission for them, do nothing.
  if ("setAppBadge" in navigator) void navigator.setAppBadge(count).catch(() => undefined);
}

/** The worker's file, beside the page. */
const WORKER = "service_worker.js";
/** The only policy for Trusted Types that the relay allows. */
const POLICY = "svc";

interface Policy {
  createScriptURL(url: string): string;
}

interface TrustedTypes {
  createPolicy(name: string, rules: Policy): Policy;
}

/** Made once: the relay does not allow a second one of the same name. */
let policy: Policy | undefined;

/** Undefined where there are no service workers (without https, except on localhost), or where the worker could not be loaded. */
export async function registerWorker(): Promise<ServiceWorkerRegistration | undefined> {
  // Undefined on pages that are not secure, which the type does not say.
  const container: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  try {
    return await container?.register(trusted(WORKER));
  } catch {
    return undefined;
  }
}

/** The one script that the page loads by a string; the policy accepts no other. */
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
