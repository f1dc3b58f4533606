/** Binds what mirrors need to the real world. */
import { systemClock } from "../../async/clock.ts";
import type { RelayLink } from "../../client/relay_link.ts";
import type { Audit } from "../../home/audit.ts";
import type { SealedKeys } from "../../home/host_sealing.ts";
import type { InjectHost } from "../inject/inject_host.ts";
import { fittedPanes, unfitWindow } from "./window_size.ts";
import { Mirrors } from "./mirrors.ts";
import { grantStream } from "../sealing.ts";
import type { Targets } from "../targets.ts";
import type { ListenerOptions } from "../types.ts";

export interface MirrorBindings {
  options: Pick<ListenerOptions, "config" | "log">;
  targets: Targets;
  inject: Pick<InjectHost, "processFacts" | "isMuted" | "isBusy" | "input" | "now" | "typed" | "policy">;
  keys: Pick<SealedKeys, "deviceId" | "secretOf" | "floor">;
  link: Pick<RelayLink, "send" | "sendBinary">;
  audit: Audit;
}

export function bindMirrors({ options, targets, inject, keys, link, audit }: MirrorBindings): Mirrors {
  return new Mirrors({
    clock: systemClock,
    resolve: (name) => targets.resolve(name),
    grant: async (open) => await grantStream(open, { keys, floor: await keys.floor(options.config) }),
    openMirror: (target, events) => targets.openMirror(target, events),
    server: (target) => targets.server(target),
    anyServer: (socket) => targets.anyServer(socket),
    inject,
    send: (event, data) => void link.send(event, data),
    sendBinary: (bytes) => void link.sendBinary(bytes),
    audit: (entry) => audit.record(entry),
    log: options.log,
  });
}

/** Windows that a listener left fitted when it was killed get their own size again. */
export async function unfitAll(targets: Targets): Promise<void> {
  const sockets = new Set((await targets.sessions()).map(({ socket }) => socket));
  for (const socket of sockets) {
    const server = targets.anyServer(socket);
    for (const pane of await fittedPanes(server)) await unfitWindow({ server, pane });
  }
}
