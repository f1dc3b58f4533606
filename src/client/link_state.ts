/** What a link tells its owner, and what an owner gives a link. */
import type { EventData, Frame } from "../protocol/frames.ts";
import type { Clock } from "./clock.ts";
import type { Fetch } from "./http.ts";
import type { LinkProblem } from "./link_problem.ts";
import type { CreateSocket } from "./socket.ts";

export type LinkState =
  | { state: "connecting" }
  | {
    state: "connected";
    welcome: EventData<"welcome">;
    /** Relay's clock minus this one, in milliseconds. */
    clockOffsetMs: number;
    /** False while the relay is silent though the connection still stands. */
    answering: boolean;
  }
  | { state: "waiting"; retryInMs: number; problem?: LinkProblem }
  | { state: "closed" };

export interface RelayLinkOptions {
  wsUrl: string;
  apiKey: string;
  /** Asked at every connection. */
  hello(): EventData<"hello">;
  /** Every frame but welcome, ping and pong. */
  onFrame(frame: Frame): void;
  onBinary?(bytes: Uint8Array): void;
  onState(state: LinkState): void;
  /** In [0, 1). */
  random?: () => number;
  clock?: Clock;
  createSocket?: CreateSocket;
  /** For the HTTP question that explains a failed handshake. */
  fetch?: Fetch;
}

/** Frames that were not taken, since the link was made. */
export interface LinkCounters {
  unknownEvents: number;
  malformedFrames: number;
}
