/** The phone's display name. */

import assert from "node:assert/strict";
import { deviceName } from "../../../src/phone/browser.ts";

Deno.test("a phone is named after its type, anything else is a browser", () => {
  assert.equal(deviceName("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)"), "iPhone");
  assert.equal(deviceName("Mozilla/5.0 (Linux; Android 16; Pixel 9)"), "Android phone");
  assert.equal(deviceName("Mozilla/5.0 (X11; Linux x86_64)"), "Browser");
});
