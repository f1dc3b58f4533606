/** The options that say which NATS a relay keeps its data in. */
import { NATS_PREFIX } from "../runtime/nats_address.ts";
import type { NatsSettings } from "../store/open.ts";
import { UsageError } from "./exit.ts";

export interface NatsOptions {
  natsCreds?: string | undefined;
  natsCa?: string | undefined;
  natsPrefix?: string | undefined;
}

/** `servers`: addresses separated by commas. Throws UsageError for any other text. */
export function natsSettings(servers: string, options: NatsOptions): NatsSettings {
  const { natsCreds: credentials, natsCa: ca, natsPrefix: prefix = NATS_PREFIX } = options;
  const all = servers.split(",").map((server) => server.trim()).filter((server) => server !== "");
  const wrong = all.find((server) => !/^(nats|tls):\/\/[^\s/]+$/.test(server));
  if (wrong !== undefined || all.length === 0) {
    throw new UsageError(
      `Cannot use the NATS server "${
        wrong ?? servers
      }": give addresses such as nats://127.0.0.1:4222, separated by commas.`,
    );
  }
  return { servers: all, prefix, credentials, ca };
}
