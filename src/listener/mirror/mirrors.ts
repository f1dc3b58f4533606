/** Opens and closes streams at the relay's request, and routes each to the mirror of its session. */
import { errorText } from "../../async/error_text.ts";
import type { Config } from "../../home/config.ts";
import type { HostKeys } from "../../home/host_sealing.ts";
import type { EventData } from "../../protocol/frames.ts";
import { decodeBinaryFrame, KEY_FRAME } from "../../protocol/pane_frame.ts";
import { type GrantedStream, grantStream } from "../sealing.ts";
import type { Target } from "../targets.ts";
import { type MirrorContext, WatchedSession } from "./watched_session.ts";

/** Maximum streams of all phones together. */
export const STREAMS_MAX = 256;
/**
 * How long a session's client stays attached after its last phone left, since most phones come back at once. tmux 3.3a
 * crashes when it notifies a client that is just attaching of another one that detached.
 */
export const LINGER_MS = 5_000;

export interface MirrorsOptions extends MirrorContext {
  keys: Pick<HostKeys, "deviceId" | "secretOf" | "floor">;
  config: Config;
}

/** Reasons that indicate a phone without the secret, or tampering on the way. */
const SUSPICIOUS: ReadonlySet<string> = new Set(["sealed_required", "unsealable", "keys_lost"]);

interface Stream {
  /** The session's name. */
  name: string;
  /** As the phone named itself. */
  phone: string | undefined;
  /** Undefined while it is being opened. */
  session?: WatchedSession;
}

type FoundSession =
  | { kind: "found"; target: Target; granted: Extract<GrantedStream, { kind: "granted" }> }
  | { kind: "refused"; reason: string };

export class Mirrors {
  readonly #options: MirrorsOptions;
  /** By number, from `pane.open` to the end. */
  readonly #streams = new Map<number, Stream>();
  /** By tmux server and session. */
  readonly #sessions = new Map<string, WatchedSession>();
  /** Sessions whose last phone left, and what cancels the wait for its return. */
  readonly #lingering = new Map<WatchedSession, () => void>();
  /** Sessions being closed. */
  readonly #closing = new Set<Promise<void>>();

  constructor(options: MirrorsOptions) {
    this.#options = options;
  }

  async open(open: EventData<"pane.open">): Promise<void> {
    const { stream } = open;
    this.closed(stream);
    if (this.#streams.size >= STREAMS_MAX) return this.#refuse(stream, "too_many_streams");
    const entry: Stream = { name: open.agentSessionName, phone: open.from };
    this.#streams.set(stream, entry);
    const found = await this.#find(open);
    // Closed or reopened meanwhile.
    if (this.#streams.get(stream) !== entry) return;
    if (found.kind === "refused") {
      return this.#ended(stream, found.reason);
    }
    entry.session = this.#sessionOf(found.target);
    const ended = (reason: string): void => this.#ended(stream, reason);
    entry.session.add({ open, granted: found.granted, ended });
  }

  /** The phone has left. */
  closed(stream: number): void {
    const { session } = this.#streams.get(stream) ?? {};
    this.#streams.delete(stream);
    session?.remove(stream);
    if (session !== undefined) this.#closeUnwatched(session);
  }

  credit({ stream, bytes }: EventData<"pane.credit">): void {
    this.#streams.get(stream)?.session?.credit(stream, bytes);
  }

  scrollback({ stream, lines }: EventData<"pane.scrollback">): void {
    this.#streams.get(stream)?.session?.scrollback(stream, lines);
  }

  /** A binary frame from the relay; ignored if it belongs to no stream. */
  bytes(bytes: Uint8Array): void {
    const frame = decodeBinaryFrame(bytes);
    if (frame?.kind !== KEY_FRAME) return;
    const { session } = this.#streams.get(frame.stream) ?? {};
    // The socket reuses the frame's memory.
    session?.keys(frame.stream, frame.payload.slice());
  }

  /** The phone was revoked: ends its streams, whatever the relay does. */
  revoke(phone: string): void {
    for (const [stream, entry] of [...this.#streams]) {
      if (entry.phone === phone) this.#ended(stream, "revoked");
    }
  }

  /** The link to the relay is gone, and with it every stream. */
  lost(): void {
    for (const stream of [...this.#streams.keys()]) this.closed(stream);
  }

  /** Resolves once all clients are detached and all window sizes are restored. */
  async close(): Promise<void> {
    this.lost();
    for (const session of [...this.#lingering.keys()]) this.#drop(session);
    await Promise.all(this.#closing);
  }

  async #find(
    open: EventData<"pane.open">,
  ): Promise<FoundSession> {
    try {
      const resolved = await this.#options.targets.resolve(open.agentSessionName);
      if (resolved.kind === "refused") return resolved;
      if (resolved.target.spawnOnly) return { kind: "refused", reason: "destroy_unattached" };
      const { keys, config } = this.#options;
      const granted = await grantStream(open, { keys, floor: await keys.floor(config) });
      return granted.kind === "refused" ? granted : { ...resolved, granted };
    } catch (error) {
      this.#options.log(`mirror of ${open.agentSessionName}: not opened: ${error}`);
      return { kind: "refused", reason: "mirror_lost" };
    }
  }

  #sessionOf(target: Target): WatchedSession {
    const key = `${target.socket}\n${target.sessionId}\n${target.pane}`;
    const known = this.#sessions.get(key);
    if (known !== undefined) {
      this.#stay(known);
      return known;
    }
    const session = new WatchedSession(target, { ...this.#options, ended: () => this.#drop(session) });
    this.#sessions.set(key, session);
    return session;
  }

  #ended(stream: number, reason: string): void {
    const { session, name = "", phone } = this.#streams.get(stream) ?? {};
    this.#streams.delete(stream);
    session?.remove(stream);
    this.#refuse(stream, reason);
    if (SUSPICIOUS.has(reason)) {
      this.#options.log(`mirror of ${name} for ${phone ?? "an unnamed phone"}: ${reason}`);
    }
    if (session !== undefined) this.#closeUnwatched(session);
  }

  #closeUnwatched(session: WatchedSession): void {
    if (session.isWatched || this.#lingering.has(session)) return;
    this.#lingering.set(session, this.#options.clock.after(LINGER_MS, () => this.#drop(session)));
  }

  #stay(session: WatchedSession): void {
    this.#lingering.get(session)?.();
    this.#lingering.delete(session);
  }

  #drop(session: WatchedSession): void {
    this.#stay(session);
    for (const [key, known] of this.#sessions) if (known === session) this.#sessions.delete(key);
    const closing = session.close().catch((error) =>
      this.#options.log(`mirror: could not be closed: ${errorText(error)}`)
    );
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }

  #refuse(stream: number, reason: string): void {
    void this.#options.link.send("pane.closed", { stream, reason });
  }
}
