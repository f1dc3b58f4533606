/** What relay nodes tell one another: every node with clients of an account hears of what concerns them. */

/** Who gets a frame: one listener, one device, every phone and script of the account, or its listeners too. */
export type Audience = { listener: string } | { device: string } | { phones: true } | { everyone: true };

export type BusMessage =
  /** The text of a control frame for these clients. `push` names the push that a listener must acknowledge. */
  | { kind: "frame"; to: Audience; text: string; push?: { id: string; seq: number } }
  /** A connection of the device was greeted: others of a listener give way to it. */
  | { kind: "greeted"; deviceId: string; connection: string };

export interface Bus {
  /** Never waits; reaches this node's own subscribers too. */
  publish(account: string, message: BusMessage): void;
  /** Returns how to stop. */
  subscribe(account: string, handler: (message: BusMessage) => void): () => void;
  /** Resolves when other nodes can be reached. */
  ready(): Promise<void>;
  close(): Promise<void>;
}
