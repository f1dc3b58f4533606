/** Binds what an injection needs to the real world. */
import { isTaken, withdrawMarker, writeMarker } from "../../home/markers.ts";
import { isMuted, loadMuted } from "../../home/muted.ts";
import { runtime } from "#runtime";
import type { InjectHost } from "./inject_host.ts";
import { policyOf } from "./policy.ts";
import { isTreeBusy, readProcessFacts } from "../process_facts.ts";
import type { PaneInputs } from "./pane_input.ts";
import { SessionRateLimit } from "./rate_limit.ts";
import type { Targets } from "../targets.ts";
import type { ListenerOptions } from "../types.ts";

export interface InjectBindings extends Pick<InjectHost, "now" | "pause" | "record" | "report" | "typed"> {
  inputs: PaneInputs;
  options: Pick<ListenerOptions, "paths" | "config">;
  targets: Targets;
}

export function bindInjectHost({ options, targets, inputs, ...given }: InjectBindings): InjectHost {
  const { files, commands, platform } = runtime;
  const rateLimit = new SessionRateLimit(given.now);
  const home = { files, markers: options.paths.markers };
  return {
    ...given,
    resolve: (name) => targets.resolve(name),
    server: (target) => targets.server(target),
    processFacts: (pid) => readProcessFacts(pid, { platform, files, commands }),
    isBusy: (pid) => isTreeBusy(pid, { platform, files }),
    input: (target) => inputs.of(target),
    isMuted: async (directory) => isMuted(await loadMuted(files, options.paths), directory),
    takeToken: (session) => rateLimit.take(session),
    writeMarker: async (dir, text) => {
      const handle = await writeMarker(home, { dir, text, now: given.now() });
      return { withdraw: () => withdrawMarker(home, handle), taken: () => isTaken(home, handle) };
    },
    policy: policyOf(options.config),
  };
}
