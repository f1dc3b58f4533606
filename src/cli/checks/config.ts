/** Checks the configuration: that it can be read, names a relay and a key, and asks for encryption that a paired phone has. */
import { runtime } from "#runtime";
import { errorText } from "../../async/error_text.ts";
import type { Sealing } from "../../crypto/mode.ts";
import { Config, listenerApiKey, loadConfig, resolveWsUrl } from "../../home/config.ts";
import { loadPaired, sealingFloor } from "../../home/paired.ts";
import { nearest } from "../nearest.ts";
import { type Check, fault, type Finding, NO_CONFIG, ok, warning } from "./check.ts";

export const configCheck: Check = {
  name: "configuration",
  async run({ paths }) {
    try {
      const inputs = { config: await loadConfig(runtime.files, paths), env: runtime.env.all() };
      const keys = judgeKeys(Object.keys(inputs.config), paths.config);
      // Before the missing values: the key that is missing may be the mistyped one.
      if (keys?.mark === "fault") return keys;
      const ws = resolveWsUrl(inputs);
      if (ws === undefined) {
        return fault("no relay is named", `run svc up, or put wsUrl into "${paths.config}"`);
      }
      if (!listenerApiKey(inputs)) {
        return fault("no API key is set", `run svc up, or put apiKey into "${paths.config}"`);
      }
      return keys ?? ok(`${ws.url} (${ws.source})`);
    } catch (error) {
      return fault(errorText(error), `fix "${paths.config}"`);
    }
  },
};

/** Undefined when svc knows every key. A key that is close to a known one is a typing error, so its setting has no effect. */
export function judgeKeys(keys: readonly string[], path: string): Finding | undefined {
  const known = Object.keys(Config.shape);
  const unknown = keys.filter((key) => !known.includes(key));
  const [typo, meant] = unknown.map((key) => [key, nearest(key, known)] as const)
    .find(([, guess]) => guess !== undefined) ?? [];
  if (typo !== undefined) {
    return fault(
      `"${typo}" is not a key of config.json and has no effect`,
      `rename it to "${meant}" in "${path}"`,
    );
  }
  if (unknown.length === 0) return undefined;
  return warning(
    `svc does not know ${unknown.map((key) => `"${key}"`).join(", ")}`,
    `remove what no other version of svc needs from "${path}"`,
  );
}

/** The deprecated variable (docs/specification.md, "Environment variables"). */
export const wsUrlVariableCheck: Check = {
  name: "SVC_WS_URL",
  run({ paths, inputs }) {
    const value = runtime.env.get("SVC_WS_URL");
    if (!value) return Promise.resolve(ok("not set"));
    const effect = inputs?.config.wsUrl ? "has no effect: wsUrl in the file wins" : "is read, but deprecated";
    return Promise.resolve(
      warning(
        `SVC_WS_URL is set to "${value}" and ${effect}`,
        `put wsUrl into "${paths.config}" and unset it`,
      ),
    );
  },
};

export const sealingCheck: Check = {
  name: "encryption",
  async run({ paths, inputs }) {
    if (inputs === undefined) return NO_CONFIG;
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
  if (floor === "off") return ok(`${paired}; messages that are not sealed are accepted too`);
  if (phones > 0) return ok(`${paired}; messages must be sealed, at least "${floor}"`);
  return fault(`messages must be sealed ("${floor}"), and no phone is paired to do so`, "run: svc pair");
}
