/** How a phone calls itself to the relay, from what its browser says of itself. */
import { STRINGS } from "./strings.ts";

export function deviceName(userAgent: string): string {
  const { devices } = STRINGS;
  if (/iPhone/.test(userAgent)) return devices.iphone;
  if (/iPad/.test(userAgent)) return devices.ipad;
  return /Android/.test(userAgent) ? devices.android : devices.browser;
}
