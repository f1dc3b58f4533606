/** Opens and closes streams as the relay's frames say, and routes each to the mirror of its session. */
import type { EventData } from "../../protocol/frames.ts";
import { decodeBinaryFrame, KEY_FRAME } from "../../protocol/pane_frame.ts";
import type { GrantedStream } from "../sealing.ts";
import { WatchedSession, type WatchedSessionHost } from "./watched_session.ts";
import type { Resolved, Target } from "../targets.ts";

/** Streams of all phones together. */
export const STREAMS_MAX = 256;
/**
 * How long a session's client stays when its last phone has left: most come back at once. tmux 3.3a crashes when it
 * tells a client that is just attaching that another one has detached.
 */
export const LINGER_MS = 5_000;

export interface MirrorsHost extends Omit<WatchedSessionHost, "ended"> {
  resolve(name: string): Promise<Resolved>;
  grant(open: EventData<"pane.open">): Promise<GrantedStream>;
  log(line: string): void;
}

/** Ends that show a phone without the secret, or somebody in between. */
const SUSPICIOUS: ReadonlySet<string> = new Set(["sealed_required", "unsealable", "keys_lost"]);

interface Stream {
  /** The session's name. */
  name: string;
  /** Whose it is, as far as it said. */
  phone: string | undefined;
  /** Undefined while it is being opened. */
  session?: WatchedSession;
}

export class Mirrors {
  readonly #host: MirrorsHost;
  /** By number; an entry stands from `pane.open` to the end. */
  readonly #streams = new Map<number, Stream>();
  /** By tmux server and session. */
  readonly #sessions = new Map<string, WatchedSession>();
  /** Sessions whose last phone left, and what ends the wait for its return. */
  readonly #lingering = new Map<WatchedSession, () => void>();
  /** Sessions that nobody came back to, until they are closed. */
  readonly #closing = new Set<Promise<void>>();

  constructor(host: MirrorsHost) {
    this.#host = host;
  }

  async open(open: EventData<"pane.open">): Promise<void> {
    const { stream } = open;
    this.closed(stream);
    if (this.#streams.size >= STREAMS_MAX) return this.#refuse(stream, "too_many_streams");
    const entry: Stream = { name: open.agentSessionName, phone: open.from };
    this.#streams.set(stream, entry);
    const found = await this.#find(open);
    // Closed, or opened anew, while the session was looked for.
    if (this.#streams.get(stream) !== entry) return;
    if ("refused" in found) {
      return this.#ended(stream, found.refused);
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

  /** A binary frame from the relay; what belongs to no stream is ignored. */
  bytes(bytes: Uint8Array): void {
    const frame = decodeBinaryFrame(bytes);
    if (frame?.kind !== KEY_FRAME) return;
    const { session } = this.#streams.get(frame.stream) ?? {};
    // The frame's memory is the socket's.
    session?.keys(frame.stream, frame.payload.slice());
  }

  /** The phone was revoked: its streams end, whatever the relay does about it. */
  forget(phone: string): void {
    for (const [stream, entry] of [...this.#streams]) {
      if (entry.phone === phone) this.#ended(stream, "revoked");
    }
  }

  /** The link to the relay is gone, and with it every stream. */
  lost(): void {
    for (const stream of [...this.#streams.keys()]) this.closed(stream);
  }

  /** Resolves once every client is detached and every window has its size again. */
  async close(): Promise<void> {
    this.lost();
    for (const session of [...this.#lingering.keys()]) this.#drop(session);
    await Promise.all(this.#closing);
  }

  async #find(
    open: EventData<"pane.open">,
  ): Promise<{ target: Target; granted: Exclude<GrantedStream, { refused: string }> } | { refused: string }> {
    try {
      const resolved = await this.#host.resolve(open.agentSessionName);
      if ("refused" in resolved) return resolved;
      if (resolved.target.spawnOnly) return { refused: "destroy_unattached" };
      const granted = await this.#host.grant(open);
      return "refused" in granted ? granted : { target: resolved.target, granted };
    } catch (error) {
      this.#host.log(`mirror of ${open.agentSessionName}: not opened: ${error}`);
      return { refused: "mirror_lost" };
    }
  }

  #sessionOf(target: Target): WatchedSession {
    const key = `${target.socket}\n${target.sessionId}\n${target.pane}`;
    const known = this.#sessions.get(key);
    if (known !== undefined) {
      this.#stay(known);
      return known;
    }
    const session = new WatchedSession(target, { ...this.#host, ended: () => this.#drop(session) });
    this.#sessions.set(key, session);
    return session;
  }

  #ended(stream: number, reason: string): void {
    const { session, name = "", phone } = this.#streams.get(stream) ?? {};
    this.#streams.delete(stream);
    session?.remove(stream);
    this.#refuse(stream, reason);
    if (SUSPICIOUS.has(reason)) {
      this.#host.log(`mirror of ${name} for ${phone ?? "an unnamed phone"}: ${reason}`);
    }
    if (session !== undefined) this.#closeUnwatched(session);
  }

  #closeUnwatched(session: WatchedSession): void {
    if (session.isWatched || this.#lingering.has(session)) return;
    this.#lingering.set(session, this.#host.clock.after(LINGER_MS, () => this.#drop(session)));
  }

  #stay(session: WatchedSession): void {
    this.#lingering.get(session)?.();
    this.#lingering.delete(session);
  }

  #drop(session: WatchedSession): void {
    this.#stay(session);
    for (const [key, known] of this.#sessions) if (known === session) this.#sessions.delete(key);
    const closing = session.close().catch((error) => this.#host.log(`mirror: not closed well: ${error}`));
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }

  #refuse(stream: number, reason: string): void {
    this.#host.send("pane.closed", { stream, reason });
  }
}
