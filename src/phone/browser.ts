/** What the page needs from its browser: a name for the device, the visible height, and a count in the title. */
import { STRINGS } from "./strings.ts";

/** The display name that the phone gives the relay. */
export function deviceName(userAgent: string): string {
  const { devices } = STRINGS;
  if (/iPhone/.test(userAgent)) return devices.iphone;
  if (/iPad/.test(userAgent)) return devices.ipad;
  return /Android/.test(userAgent) ? devices.android : devices.browser;
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

let shownCount = 0;

/** Counts what waits for the user in the page's title and, where the app is installed, on its icon. */
export function showCount(count: number): void {
  if (count === shownCount) return;
  shownCount = count;
  const { longTitle } = STRINGS.app;
  document.title = count === 0 ? longTitle : `(${count}) ${longTitle}`;
  // Browsers without badges, or without the permission for them, do nothing.
  if ("setAppBadge" in navigator) void navigator.setAppBadge(count).catch(() => undefined);
}
