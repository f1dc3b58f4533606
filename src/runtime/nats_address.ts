/** Which NATS a relay uses; separate from the connection, so that a relay without NATS does not load its client. */

/** Servers of one NATS cluster, and the names that this deployment uses there. */
export interface NatsAddress {
  /** `nats://host:port` each. */
  servers: readonly string[];
  /** Text of a credentials file. */
  credentials?: string | undefined;
  /** PEM text of the authority that signed the servers' certificates. */
  ca?: string | undefined;
  /** Begins every subject and stream name, so that one NATS serves several deployments. */
  prefix: string;
}

export const NATS_PREFIX = "svc";

/** The number of copies of every message: with three servers, one may fail. */
export function replicasOf(servers: readonly string[]): number {
  return servers.length >= 3 ? 3 : 1;
}
