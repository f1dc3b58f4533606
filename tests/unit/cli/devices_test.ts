/** `svc devices`: lists whom this host shares a secret with, whatever the relay lists. */
import assert from "node:assert/strict";
import { withUnlisted } from "../../../src/cli/devices.ts";

const PAIRED = { publicKey: "", secret: "", pairedAt: 5 };
const LISTED = { id: "dev_phone_a", kind: "phone", name: "A", version: "1", online: true } as const;

Deno.test("a phone or script that shares a secret with this host is listed with its real kind, even if the relay does not list it or gives it another kind [pair-devices, sec-active-relay]", () => {
  const listed = { ...LISTED, createdAt: 1, lastSeen: 2 };
  const other = { ...listed, id: "dev_phone_b", name: "B" };
  const relabelled = { ...listed, id: "dev_phone_c", kind: "script", name: "C" } as const;
  const devices = withUnlisted([listed, other, relabelled], [
    { ...PAIRED, deviceId: "dev_phone_a", name: "as the host knows it" },
    { ...PAIRED, deviceId: "dev_phone_c", name: "as the host knows it" },
    { ...PAIRED, deviceId: "dev_phone_hidden", name: "hidden" },
    { ...PAIRED, deviceId: "dev_script_hidden", name: "script", script: true },
  ]);
  assert.deepEqual(devices.map(({ id, kind, name, paired, listed }) => [id, kind, name, paired, listed]), [
    ["dev_phone_a", "phone", "A", true, true],
    ["dev_phone_b", "phone", "B", false, true],
    ["dev_phone_c", "phone", "C", true, true],
    ["dev_phone_hidden", "phone", "hidden", true, false],
    ["dev_script_hidden", "script", "script", true, false],
  ]);
});
