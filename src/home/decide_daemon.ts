/** Decides what a wrapper does about the daemon (spec, sections 3 and 9). */
import { compareVersions } from "./semver.ts";

export type DaemonDecision =
  | { action: "start" }
  | { action: "keep" }
  /** The daemon is newer than the installed package. */
  | { action: "leave"; running: string }
  | { action: "restart"; stale: string };

export interface DaemonFacts {
  /** Version of the daemon that lives, as `listener.version` has it; undefined when none lives. */
  running: string | undefined;
  installed: string;
}

export function decideDaemon({ running, installed }: DaemonFacts): DaemonDecision {
  if (running === undefined) return { action: "start" };
  const order = compareVersions(installed, running);
  if (order > 0) return { action: "restart", stale: running };
  return order < 0 ? { action: "leave", running } : { action: "keep" };
}
