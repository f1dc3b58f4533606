/** A relay that starts its hourly removal of old pushes on SIGUSR1. */
import { systemClock } from "../src/async/clock.ts";
import { startRelay } from "../src/relay/server.ts";
import { say } from "../scripts/say.ts";

const HOUR_MS = 3_600_000;
const [dataDir = ""] = Deno.args;
let sweep = (): void => {};
const relay = await startRelay({
  listen: "127.0.0.1:0",
  dataDir,
  clock: {
    ...systemClock,
    after(ms, action) {
      if (ms !== HOUR_MS) return systemClock.after(ms, action);
      sweep = action;
      return () => {};
    },
  },
});
Deno.addSignalListener("SIGUSR1", () => sweep());
say(`svc server listening on ${relay.url} (${relay.wsUrl})`);
