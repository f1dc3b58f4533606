/** Messages between relay nodes: every node that has clients of an account receives that account's messages. */

/** The recipients of a frame: one listener, one device, every phone and script of the account, or every device. */
export type Audience = { listener: string } | { device: string } | { phones: true } | { everyone: true };

export type BusMessage =
  /** An encoded control frame for these clients. `push` identifies the push that a listener must acknowledge. */
  | { kind: "frame"; to: Audience; text: string; push?: { id: string; seq: number } }
  /** A listener's connection was greeted: older connections of the same device close. */
  | { kind: "greeted"; deviceId: string; connection: string };

export interface Bus {
  /** Does not wait. Also reaches this node's own subscribers. */
  publish(account: string, message: BusMessage): void;
  /** Returns the unsubscribe function. */
  subscribe(account: string, handler: (message: BusMessage) => void): () => void;
  /** Resolves when other nodes can be reached. */
  ready(): Promise<void>;
  close(): Promise<void>;
}
