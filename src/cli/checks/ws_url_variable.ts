/** Warns while the deprecated `SVC_WS_URL` is set (spec, section 2). */
import { runtime } from "#runtime";
import { type Check, ok, warning } from "./check.ts";

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
