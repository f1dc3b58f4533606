/** Binds what finding tmux's servers needs to this machine: a small environment, and only sockets that can be trusted. */
import { runtime } from "#runtime";
import { tmuxEnvironment, withEnvironment } from "../tmux/environment.ts";
import { distrustLog } from "../tmux/trust.ts";
import { Targets } from "./targets.ts";
import type { ListenerOptions } from "./types.ts";

export function bindTargets({ env, log }: Pick<ListenerOptions, "env" | "log">): Targets {
  const { uid, files, platform } = runtime;
  return new Targets({
    uid,
    files,
    platform,
    env: { get: (name: string): string | undefined => env[name] },
    commands: withEnvironment(runtime.commands, tmuxEnvironment(env)),
    now: () => Date.now(),
    distrusted: distrustLog(log),
  });
}
