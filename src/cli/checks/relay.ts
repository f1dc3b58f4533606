/** Checks the relay over HTTP, and what the key may do there. */
import { errorText } from "../../async/error_text.ts";
import type { RelayApi } from "../../client/api.ts";
import { RelayError } from "../../client/relay_error.ts";
import { relayApi } from "../settings.ts";
import { type Check, fault, type Finding, ok, warning } from "./check.ts";

const NEW_KEY = "make one: svc keys create --name NAME --scope push:read,push:send";

const CONFIGURE = "mend the configuration first";

export const relayCheck: Check = {
  name: "relay, HTTP",
  async run({ paths, inputs }) {
    if (inputs === undefined) return fault("not asked: the configuration cannot be read", "mend it first");
    try {
      const api = relayApi(paths, inputs);
      const { version } = await api.health();
      return ok(`v${version} at ${api.baseUrl}`);
    } catch (error) {
      if (!(error instanceof RelayError)) return fault(errorText(error), CONFIGURE);
      return fault(errorText(error), "see that svc server runs there, and that the address is right");
    }
  },
};

export const keyCheck: Check = {
  name: "key",
  async run({ paths, inputs }) {
    if (inputs === undefined) return fault("not asked: the configuration cannot be read", "mend it first");
    try {
      const api = relayApi(paths, inputs);
      await api.sessions();
      return await sendScope(api);
    } catch (error) {
      if (error instanceof RelayError && error.status === 0) {
        return fault("not asked: the relay does not answer", "mend that first");
      }
      return fault(errorText(error), error instanceof RelayError ? NEW_KEY : CONFIGURE);
    }
  },
};

/** A push without a session is refused for its fields, but only by a relay that let the key through. */
async function sendScope(api: RelayApi): Promise<Finding> {
  try {
    await api.sendPush({ type: "agent.command" });
  } catch (error) {
    if (error instanceof RelayError && error.code === "missing_scope") {
      return warning("it may read pushes, not send them: svc send will not work", NEW_KEY);
    }
    if (!(error instanceof RelayError) || error.code !== "invalid_push") throw error;
  }
  return ok("it may read and send pushes");
}
