/** Checks the configuration: that it can be read, and that it names a relay and a key. */
import { errorText } from "../../async/error_text.ts";
import { runtime } from "#runtime";
import { listenerApiKey, resolveWsUrl } from "../../home/addresses.ts";
import { loadConfig } from "../../home/config.ts";
import { type Check, fault, ok } from "./check.ts";

export const configCheck: Check = {
  name: "configuration",
  async run({ paths }) {
    try {
      const inputs = { config: await loadConfig(runtime.files, paths), env: runtime.env.all() };
      const ws = resolveWsUrl(inputs);
      if (ws === undefined) {
        return fault("no relay is named", `run svc up, or put wsUrl into "${paths.config}"`);
      }
      if (!listenerApiKey(inputs)) {
        return fault("no API key is there", `run svc up, or put apiKey into "${paths.config}"`);
      }
      return ok(`${ws.url} (${ws.source})`);
    } catch (error) {
      return fault(errorText(error), `mend "${paths.config}"`);
    }
  },
};
