/** Control-mode clients: one connection to a tmux server, at 0.1 ms a round trip instead of 2 ms a spawn; the pool of them, and the parser of what they print. */
import { type Clock, systemClock } from "../async/clock.ts";
import { concatBytes, encodeUtf8 } from "../async/encodings.ts";
import type { Commands, PipedChild } from "../runtime/types.ts";
import { commandLine, controlArgv, type TmuxCommand, verbs } from "./argv.ts";
import type { AttachGate } from "./attach_gate.ts";
import { REQUEST_LIMIT_MS, spawningServer, TmuxError, type TmuxServer } from "./server.ts";

/** A pooled client that was not used for this long is detached, unless its server is held. */
export const CONTROL_IDLE_MS = 60_000;

export interface ControlEvents {
  /** The followed pane's program wrote this. */
  output(bytes: Uint8Array): void;
  /** Another pane of the session wrote this many bytes. */
  otherOutput(length: number): void;
  /** A line such as `%layout-change …`. */
  notified(line: string): void;
  /** The client ended for any reason but `close`. Called at most once. */
  ended(): void;
}

/** What each command printed, or why one failed: the commands after it did not run. */
export type ControlAnswer = string[] | TmuxError;

export interface ControlOptions {
  socket: string;
  /** The pane whose output `events` gets. */
  pane?: string;
  events?: ControlEvents;
  clock?: Pick<Clock, "after">;
  gate?: AttachGate;
}

interface Request {
  cancelLimit(): void;
  /** Takes the next block; returns what to call once the request is answered. */
  take(block: Block): (() => void) | undefined;
  /** The connection was lost. */
  fail(error: TmuxError): void;
}

/** Requests are answered in order. The client never resizes a window, and reads everything tmux sends at once. */
export class ControlClient implements TmuxServer {
  readonly socket: string;
  /** False if there is no such session: no command has run. Undefined before tmux has answered. */
  isAttached: boolean | undefined;
  readonly #child: PipedChild;
  readonly #events: ControlEvents | undefined;
  readonly #clock: Pick<Clock, "after">;
  readonly #parser: ControlParser;
  readonly #reading: Promise<void>;
  readonly #nonce = crypto.randomUUID();
  readonly #gate: AttachGate | undefined;
  readonly #attached: () => void;
  #requests: Request[] = [];
  #count = 0;
  #endReason: string | undefined;

  constructor(child: PipedChild, { socket, pane, events, clock = systemClock, gate }: ControlOptions) {
    this.socket = socket;
    this.#gate = gate;
    this.#attached = gate?.attach() ?? (() => {});
    this.#child = child;
    this.#events = events;
    this.#clock = clock;
    this.#parser = new ControlParser(pane);
    this.#reading = this.#read();
  }

  get alive(): boolean {
    return this.#endReason === undefined;
  }

  /**
   * Runs any commands. A command that prints an unguessable sentinel follows them, since the number of blocks depends on
   * the branch that `if-shell` takes, and ends at the first error. The blocks of the user's tmux hooks are dropped.
   */
  run(...commands: TmuxCommand[]): Promise<string> {
    if (this.#endReason !== undefined) return Promise.reject(new TmuxError(this.#endReason));
    const sentinel = `svc-${this.#nonce}-${++this.#count}`;
    const blocks: Block[] = [];
    return new Promise<string>((resolve, reject) => {
      const take = (block: Block): (() => void) | undefined => {
        if (!block.asked) return undefined;
        if (!block.ok || block.text !== sentinel) return void blocks.push(block);
        const failed = blocks.find(({ ok }) => !ok);
        if (failed) return () => reject(new TmuxError(failed.text));
        return () => resolve(blocks.map(({ text }) => text).filter((text) => text !== "").join("\n"));
      };
      this.#request({ take, fail: reject }, [
        commandLine(commands),
        commandLine([verbs.printPlain(sentinel)]),
      ]);
    });
  }

  /**
   * Runs commands that print one block each (no `if-shell`), with no pane output between them. `done` is called while
   * the last answer is being parsed, so the caller knows exactly which output came before it and which after.
   */
  request(commands: readonly TmuxCommand[], done: (answer: ControlAnswer) => void): void {
    if (this.#endReason !== undefined) return done(new TmuxError(this.#endReason, { lost: true }));
    const texts: string[] = [];
    const take = ({ ok, text, asked }: Block): (() => void) | undefined => {
      if (!asked) return undefined;
      texts.push(text);
      if (ok && texts.length < commands.length) return undefined;
      return () => done(ok ? texts : new TmuxError(text));
    };
    this.#request({ take, fail: done }, [commandLine(commands)]);
  }

  /** Detaches, or kills a client that its server does not release. Pending requests fail, and `ended` is not called. */
  async close(): Promise<void> {
    const detach = async (): Promise<void> => {
      this.#disconnect("the control client was closed");
      const late = Promise.withResolvers<unknown>();
      const cancelLimit = this.#clock.after(REQUEST_LIMIT_MS, () => {
        this.#child.kill("SIGKILL");
        // The server holds the output open too: its end may never come.
        late.resolve(this.#child.exited);
      });
      await Promise.race([this.#reading, late.promise]).finally(cancelLimit);
    };
    await (this.#gate?.news(detach) ?? detach());
  }

  /** Closes the client as if its server had ended it. */
  lose(reason: string): void {
    this.#end(reason);
    void this.close();
  }

  #request(request: Omit<Request, "cancelLimit">, lines: readonly string[]): void {
    const cancelLimit = this.#clock.after(REQUEST_LIMIT_MS, () => {
      this.#child.kill("SIGKILL");
      this.#end(`tmux did not answer within ${REQUEST_LIMIT_MS} ms`);
    });
    this.#requests.push({ ...request, cancelLimit });
    this.#child.stdin.write(encodeUtf8(`${lines.join("\n")}\n`)).catch((error) => this.#end(String(error)));
  }

  async #read(): Promise<void> {
    const drained = this.#drainErrors();
    for await (const chunk of this.#child.stdout) {
      if (this.alive) this.#parser.feed(chunk, (item) => this.#take(item));
    }
    this.#end("tmux ended the control client");
    await drained;
    await this.#child.exited;
  }

  async #drainErrors(): Promise<void> {
    for await (const _chunk of this.#child.stderr);
  }

  #take(item: ControlItem): void {
    switch (item.kind) {
      case "output":
        return this.#events?.output(item.bytes);
      case "other":
        return this.#events?.otherOutput(item.length);
      case "block":
        return this.#block(item);
      case "notification":
        if (item.line.startsWith("%exit")) return this.#end(`tmux ended the control client: ${item.line}`);
        return this.#events?.notified(item.line);
    }
  }

  #block(block: Block): void {
    this.#attached();
    this.isAttached ??= block.ok;
    const request = this.#requests[0];
    const finish = request?.take(block);
    if (finish === undefined) return;
    this.#requests.shift();
    request?.cancelLimit();
    finish();
  }

  #end(reason: string): void {
    if (!this.alive) return;
    this.#disconnect(reason);
    this.#events?.ended();
  }

  #disconnect(reason: string): void {
    if (!this.alive) return;
    this.#attached();
    this.#endReason = reason;
    this.#child.stdin.close();
    for (const { cancelLimit, fail } of this.#requests.splice(0)) {
      cancelLimit();
      fail(new TmuxError(reason, { lost: true }));
    }
  }
}

interface Pooled {
  client: ControlClient;
  isHeld: boolean;
  stopTimer(): void;
}

type PooledSession = { socket: string; session: string };

/**
 * One client for each tmux server in use. It stays while the server is held, else it is attached at the first use and
 * detached when it was idle for CONTROL_IDLE_MS. It ends with the session that it is attached to.
 */
export class ControlPool {
  /** By socket. */
  #entries = new Map<string, Pooled>();
  #held = new Set<string>();
  #commands: Pick<Commands, "pipe" | "run">;
  #clock: Pick<Clock, "after">;
  #gate: AttachGate | undefined;

  constructor(
    commands: Pick<Commands, "pipe" | "run">,
    { clock = systemClock, gate }: Pick<ControlOptions, "clock" | "gate"> = {},
  ) {
    this.#commands = commands;
    this.#clock = clock;
    this.#gate = gate;
  }

  /**
   * The server's client. Without one, the first request attaches one to this session. While none may attach, or if the
   * session has ended or was renamed, it runs in its own tmux process. Each request restarts the client's idle time.
   */
  get(socket: string, session: string): TmuxServer {
    const spawning = spawningServer(this.#commands, socket);
    return {
      socket,
      run: (...commands: TmuxCommand[]) => {
        const open = this.open(socket);
        if (open === undefined && this.#gate?.isCalm === false) return spawning.run(...commands);
        const client = open ?? this.#attach({ socket, session });
        this.#keep(client);
        return client.run(...commands).catch((error) => {
          if (client.isAttached !== false) throw error;
          return spawning.run(...commands);
        });
      },
    };
  }

  /** Keeps these servers' clients. `attach`: a server without one gets one for this session, if it may attach. */
  hold(sessions: readonly PooledSession[], { attach }: { attach: boolean }): void {
    const mayAttach = attach && this.#gate?.isCalm !== false;
    this.#held = new Set(sessions.map(({ socket }) => socket));
    for (const one of sessions) {
      if (mayAttach && this.open(one.socket) === undefined) this.#keep(this.#attach(one));
    }
    for (const { client, isHeld } of this.#entries.values()) {
      if (isHeld !== this.#held.has(client.socket)) this.#keep(client);
    }
  }

  /** The server's client, if one is attached. */
  open(socket: string): ControlClient | undefined {
    const client = this.#entries.get(socket)?.client;
    return client?.alive ? client : undefined;
  }

  /** Forgets the server's client: its socket leads to another server by now. */
  drop(socket: string, reason: string): void {
    const entry = this.#entries.get(socket);
    this.#entries.delete(socket);
    entry?.stopTimer();
    entry?.client.lose(reason);
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) entry.stopTimer();
    await Promise.all(entries.map((entry) => entry.client.close()));
  }

  #attach({ socket, session }: PooledSession): ControlClient {
    const child = this.#commands.pipe(controlArgv(socket, session));
    return new ControlClient(child, { socket, clock: this.#clock, gate: this.#gate });
  }

  #keep(client: ControlClient): void {
    const { socket } = client;
    this.#entries.get(socket)?.stopTimer();
    const isHeld = this.#held.has(socket);
    const stopTimer = isHeld ? () => {} : this.#clock.after(CONTROL_IDLE_MS, () => {
      if (this.#entries.get(socket)?.client === client) this.#entries.delete(socket);
      void client.close();
    });
    this.#entries.set(socket, { client, isHeld, stopTimer });
  }
}

/** The output of one command. */
export interface Block {
  kind: "block";
  ok: boolean;
  text: string;
  /** False for blocks this client did not request: its own attach, and the user's tmux hooks. */
  asked: boolean;
}

/** A line outside blocks, for example `%exit`. */
export interface Notification {
  kind: "notification";
  line: string;
}

/** Output of the pane that the parser follows. The receiver owns the bytes. */
export interface PaneOutput {
  kind: "output";
  bytes: Uint8Array;
}

/** Another pane of the session produced this many bytes of output. */
export interface OtherOutput {
  kind: "other";
  length: number;
}

export type ControlItem = Block | Notification | PaneOutput | OtherOutput;

const LINE_FEED = 0x0a;
const BACKSLASH = 0x5c;
const OUTPUT = encodeUtf8("%output ");

/**
 * Works on bytes, because a line of pane output may end inside a character that the next line continues. tmux writes
 * control characters and `\` in output as a backslash and three octal digits.
 */
export class ControlParser {
  readonly #followed: Uint8Array | undefined;
  // A byte order mark is content, not an encoding hint: each line is decoded by itself.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest: Uint8Array[] = [];
  /** The block being read; it ends only at a guard line with its own time and number. */
  #open: { guard: string; lines: string[] } | undefined;

  /** `pane`: the pane whose output is returned. */
  constructor(pane?: string) {
    this.#followed = pane === undefined ? undefined : encodeUtf8(`%output ${pane} `);
  }

  /** Calls `take` for each complete item before parsing the next one. */
  feed(chunk: Uint8Array, take: (item: ControlItem) => void): void {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      const item = this.#line(this.#complete(chunk.subarray(from, end)));
      from = end + 1;
      if (item !== undefined) take(item);
    }
    if (from < chunk.length) this.#rest.push(chunk.slice(from));
  }

  #complete(tail: Uint8Array): Uint8Array {
    if (this.#rest.length === 0) return tail;
    const line = concatBytes([...this.#rest, tail]);
    this.#rest = [];
    return line;
  }

  #line(line: Uint8Array): ControlItem | undefined {
    if (this.#open !== undefined) return this.#blockLine(this.#open, this.#decoder.decode(line));
    if (startsWith(line, OUTPUT)) return this.#output(line);
    const text = this.#decoder.decode(line);
    if (!text.startsWith("%begin ")) return { kind: "notification", line: text };
    this.#open = { guard: text.slice("%begin ".length), lines: [] };
    return undefined;
  }

  #blockLine({ guard, lines }: { guard: string; lines: string[] }, line: string): Block | undefined {
    const ok = line === `%end ${guard}`;
    if (!ok && line !== `%error ${guard}`) {
      lines.push(line);
      return undefined;
    }
    this.#open = undefined;
    return { kind: "block", ok, text: lines.join("\n"), asked: guard.endsWith(" 1") };
  }

  #output(line: Uint8Array): PaneOutput | OtherOutput {
    return this.#followed !== undefined && startsWith(line, this.#followed)
      ? { kind: "output", bytes: unescapeOctal(line.subarray(this.#followed.length)) }
      : { kind: "other", length: line.length };
  }
}

export function unescapeOctal(escaped: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(escaped.length);
  let length = 0;
  for (let at = 0; at < escaped.length; at++) {
    const byte = escaped[at] ?? 0;
    bytes[length++] = byte === BACKSLASH ? octalAt(escaped, at) : byte;
    if (byte === BACKSLASH) at += 3;
  }
  return bytes.subarray(0, length);
}

function octalAt(escaped: Uint8Array, backslash: number): number {
  const digit = (offset: number): number => (escaped[backslash + offset] ?? 0) & 7;
  return (digit(1) << 6 | digit(2) << 3 | digit(3)) & 0xff;
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && prefix.every((byte, at) => bytes[at] === byte);
}
