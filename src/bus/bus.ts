/**
 * Messages between relay nodes: every node that has clients of an account receives that account's messages. Also the
 * bus of a relay that runs as a single process.
 */

import type { Scope } from "../protocol/http.ts";

/** The recipients of a frame: one listener, one device, every phone and script of the account, or every device. */
export type Audience = { listener: string } | { device: string } | { phones: true } | { everyone: true };

export type BusMessage =
  /** An encoded control frame for these clients. `push` identifies the push that a listener must acknowledge. */
  | { kind: "frame"; to: Audience; text: string; push?: { id: string; seq: number } }
  /** A listener's connection was greeted: older connections of the same device close. */
  | { kind: "greeted"; deviceId: string; connection: string }
  /** How much of the shared limits a node's clients used, as [budget, key, amount]. Sent to every node. */
  | { kind: "spent"; node: string; taken: readonly (readonly [string, string, number])[] }
  /** The node was cut off, and the messages that it sent meanwhile are lost. Sent to every node. */
  | { kind: "gap"; node: string };

/**
 * A message between two nodes: a phone is connected to one, its listener to the other. `connection` identifies the
 * phone's connection.
 */
export type NodeMessage =
  & { connection: string; bytes?: Uint8Array }
  & (
    /** A phone's frame for the listener; `text` is the encoded frame, absent when the frame is `bytes`. */
    | { kind: "fromPhone"; account: string; phone: PhoneFacts; text?: string }
    /** A frame for the phone; `ended` is the number of the phone's stream that ends with it. */
    | { kind: "toPhone"; text?: string; ended?: number }
    /** The phone's connection has closed. */
    | { kind: "phoneGone" }
    /** The phone's connection exceeded a budget at the listener's node. */
    | { kind: "closeForFlood"; budget: string }
  );

/** What the listener's node must know about a phone. */
export interface PhoneFacts {
  keyId: string;
  scopes: readonly Scope[];
  deviceId: string;
}

/** The channel for messages to every node, whichever accounts its clients have; no account has this name. */
export const EVERY_NODE = "";

export interface Bus {
  /** This node's name. */
  readonly node: string;
  /** Publishes to all nodes, including this node's own subscribers. Does not wait. */
  publish(account: string, message: BusMessage): void;
  /** Returns the unsubscribe function. */
  subscribe(account: string, handler: (message: BusMessage) => void): () => void;
  /** Sends to one node, in order and at most once. Does not wait. */
  send(node: string, message: NodeMessage): void;
  /** Receives what other nodes send to this one. Returns the unsubscribe function. */
  receive(handler: (message: NodeMessage & { from: string }) => void): () => void;
  /**
   * Calls `handler` after messages may have been lost: with the name of the node that sent them, or with this node's
   * name if they may have come from any other node. Returns the unsubscribe function.
   */
  watchGaps(handler: (node: string) => void): () => void;
  /** Resolves when other nodes can be reached. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

type Handler = (message: BusMessage) => void;

export class LocalBus implements Bus {
  readonly node = "";
  readonly #handlers = new Map<string, Set<Handler>>();

  publish(account: string, message: BusMessage): void {
    for (const handler of [...this.#handlers.get(account) ?? []]) handler(message);
  }

  subscribe(account: string, handler: Handler): () => void {
    const handlers = this.#handlers.get(account) ?? new Set();
    this.#handlers.set(account, handlers.add(handler));
    return () => {
      handlers.delete(handler);
      if (handlers.size === 0 && this.#handlers.get(account) === handlers) this.#handlers.delete(account);
    };
  }

  /** There is no other node. */
  send(): void {
    return;
  }

  receive(): () => void {
    return () => undefined;
  }

  /** Loses nothing. */
  watchGaps(): () => void {
    return () => undefined;
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#handlers.clear();
    return Promise.resolve();
  }
}
