/** Checks that the phones can meet the floor of encryption that the configuration sets. */
import { errorText } from "../../async/error_text.ts";
import { runtime } from "#runtime";
import type { Sealing } from "../../crypto/mode.ts";
import { loadPaired, sealingFloor } from "../../home/paired.ts";
import { type Check, fault, type Finding, ok } from "./check.ts";

export const sealingCheck: Check = {
  name: "encryption",
  async run({ paths, inputs }) {
    if (inputs === undefined) return fault("not asked: the configuration cannot be read", "mend it first");
    try {
      const paired = await loadPaired(runtime.files, paths);
      return judgeFloor(sealingFloor(paired, inputs.config), paired.phones.length);
    } catch (error) {
      return fault(errorText(error), "run: svc pair");
    }
  },
};

/** `phones`: how many phones and scripts share a secret with this host. */
export function judgeFloor(floor: Sealing, phones: number): Finding {
  const paired = `${phones} paired phone(s)`;
  if (floor === "off") return ok(`${paired}; messages that are not sealed are taken too`);
  if (phones > 0) return ok(`${paired}; messages must be sealed, at least "${floor}"`);
  return fault(`messages must be sealed ("${floor}"), and no phone is paired to do so`, "run: svc pair");
}
