/** JetStream as the NATS store uses it: the newest message of a subject, compare-and-set by its sequence, and following. */
import {
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  JetStreamError,
  type JetStreamManager,
  type MsgRequest,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamInfo,
} from "@nats-io/jetstream";
import { headers, NoRespondersError, RequestError, TimeoutError } from "@nats-io/transport-node";
import { delay, systemClock } from "../async/clock.ts";
import { encodeBase64url } from "../async/encodings.ts";
import { retry } from "../async/retry.ts";
import { setNewest } from "../async/newest.ts";
import { requestFault } from "../runtime/nats.ts";
import {
  type Consuming,
  type Followed,
  type FollowFrom,
  Following,
  type Note,
  NOTE_HEADER,
} from "./nats_following.ts";
import { StoreUnavailable } from "./store.ts";

/** How long a call is retried while a stream elects its leader. A request to the relay may take longer. */
const PATIENCE_MS = 12_000;
/** The same when a relay starts: servers that come back one after another elect several times. */
const START_PATIENCE_MS = 60_000;
/** How long one attempt waits for an answer. */
export const ATTEMPT_MS = 2_000;
const BACKOFF = { minMs: 20, maxMs: 500 };

/** The last is "duplicate message id is in process": another writer was faster. */
const WRONG_LAST_SEQUENCE = [10071, 10164, 10158];
/** "JetStream is not available", "no leader", "insufficient resources", "stream is offline" and their like. */
const TRANSIENT_STATUS = [500, 503];
/** "No suitable peers for placement": a server is late, or was stopped. Its status is that of an invalid request. */
const NO_PEERS = 10005;

/** The name of the client's error when no server answers for JetStream; its class is not exported. */
const NO_LEADER = "JetStreamNotEnabled";

/** How long to wait before asking a server again that lags behind what this process has seen. */
const LAG_MS = 20;
/** Subjects whose newest message seen by this process is remembered. */
const KNOWN_MAX = 10_000;

/** The writer's mark, which shows whether an attempt without an answer was stored. */
const WRITE_HEADER = "Svc-Write";

export interface Entry {
  subject: string;
  seq: number;
  text: string;
}

interface StreamHandles {
  client: JetStreamClient;
  manager: JetStreamManager;
  /** Differs after a reconnection. */
  session?(): string;
}

interface StreamOptions {
  name: string;
  /** All subjects of the stream, such as `svc.state.>`. */
  subjects: string;
  replicas: number;
}

export interface PutOptions {
  /** Stores only if this is the sequence of the subject's newest message; 0 if it must have none. */
  expected?: number;
  /** With `expected`: increased when an earlier write may be lost, because its message id blocks others. */
  round?: number;
  /** Stores only if this is the sequence of the stream's newest message. */
  last?: number;
  note?: string;
}

export interface GetOptions {
  /** The sequence of a message that this subject has had. */
  atLeast?: number;
  /** Accepts "no message" only from a server that has all that this process has seen of the stream. */
  sure?: boolean;
}

export class NatsStream {
  /** Its last sequence when it was opened. */
  openedAt = 0;
  /** How long servers may lag behind what this process has seen, before that counts as a loss. */
  protected lossAfterMs = 60_000;
  /** How often the stream has lost its newest messages: what was remembered by sequence before may be wrong. */
  losses = 0;
  /** Since when every answer has been behind; monotonic milliseconds. */
  #behindSince: number | undefined;
  /** The newest message that this process has stored or followed. */
  #seen = 0;
  /** The same by subject, for those that changed last. */
  readonly #known = new Map<string, number>();
  readonly #handles: StreamHandles;
  readonly #options: StreamOptions;

  constructor(handles: StreamHandles, options: StreamOptions) {
    this.#handles = handles;
    this.#options = options;
  }

  /** Creates the stream unless it exists. */
  async prepare(): Promise<void> {
    const { name, subjects, replicas } = this.#options;
    const add = () =>
      this.#handles.manager.streams.add({
        name,
        subjects: [subjects],
        num_replicas: replicas,
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        // A write that does not fit is refused: nothing that was accepted is dropped.
        discard: DiscardPolicy.New,
        max_msgs_per_subject: 1,
        // Reads are answered by the leader, and for a moment also by one that has not noticed yet that it was replaced.
        allow_direct: false,
      });
    const { state } = await patiently("prepare a stream", add, { patienceMs: START_PATIENCE_MS });
    this.openedAt = state.last_seq;
  }

  /**
   * The newest message of a subject, never older than one that this process has stored or followed. A former leader,
   * which was stopped or cut off, may answer with old data for a while: it is asked again until it has caught up.
   * Throws StoreUnavailable when that takes too long.
   */
  async get(subject: string, { atLeast = 0, sure = false }: GetOptions = {}): Promise<Entry | undefined> {
    const known = Math.max(atLeast, this.#known.get(subject) ?? 0);
    const upTo = sure ? Math.max(known, this.#seen) : known;
    const end = systemClock.elapsed() + PATIENCE_MS;
    do {
      const entry = entryOf(await this.message({ last_by_subj: subject }));
      if (upTo === 0 || entry !== undefined && entry.seq >= known) return entry;
      // One answer shows both that the server has the stream so far and that the subject has no message.
      const { state: { last_seq: last, subjects = {} } } = await this.info(subject);
      const isBehind = this.#isBehind(last, upTo);
      if (isBehind && this.#hasLost(last)) return entry;
      if (!isBehind && subjects[subject] === undefined) return undefined;
      await delay(LAG_MS, { clock: systemClock });
    } while (systemClock.elapsed() < end);
    throw new StoreUnavailable(
      `Cannot read in NATS: the server that leads "${this.#options.name}" lags behind`,
    );
  }

  #isBehind(last: number, upTo: number): boolean {
    const isBehind = last < upTo;
    this.#behindSince = isBehind ? this.#behindSince ?? systemClock.elapsed() : undefined;
    return isBehind;
  }

  /** True when the stream has stayed behind for long: it was restored, or its servers lost power. */
  #hasLost(last: number): boolean {
    if (systemClock.elapsed() - (this.#behindSince ?? Infinity) < this.lossAfterMs) return false;
    this.#forget(last);
    return true;
  }

  #forget(seen = 0): void {
    this.#seen = seen;
    this.#known.clear();
  }

  async getSeq(seq: number): Promise<Entry | undefined> {
    return entryOf(await this.message({ seq }));
  }

  /** The first message from `seq` on whose subject matches `filter`. */
  async next(filter: string, seq: number): Promise<Entry | undefined> {
    // Servers have supported this since 2.9; the client's types do not list it.
    return entryOf(await this.message({ seq, next_by_subj: filter } as MsgRequest));
  }

  /** Returns the message's sequence once it is replicated; undefined, and nothing is stored, when the options forbid it. */
  async put(subject: string, text: string, options: PutOptions = {}): Promise<number | undefined> {
    const seq = await this.#put(subject, text, options);
    if (seq !== undefined) this.#note(subject, seq);
    return seq;
  }

  async #put(subject: string, text: string, options: PutOptions): Promise<number | undefined> {
    const mark = encodeBase64url(crypto.getRandomValues(new Uint8Array(9)));
    let isUncertain = false;
    return await patiently("store", async () => {
      try {
        const seq = await this.#publish(subject, text, { ...options, mark });
        return seq === undefined && isUncertain ? await this.#seqOfMark(subject, mark) : seq;
      } catch (error) {
        if (!isConflict(error)) {
          isUncertain = true;
          throw error;
        }
        return isUncertain ? await this.#seqOfMark(subject, mark) : undefined;
      }
    });
  }

  /** When NATS stored a message, by its own clock; epoch milliseconds. */
  async storedAt(seq: number): Promise<number | undefined> {
    return (await this.message({ seq }))?.time.getTime();
  }

  /** The sequence of its newest message, once a leader answers for the stream. */
  async lastSeq(): Promise<number> {
    return (await this.info()).state.last_seq;
  }

  /** Subjects that have a message. */
  async subjects(filter: string): Promise<string[]> {
    return Object.keys((await this.info(filter)).state.subjects ?? {});
  }

  /** The newest messages of all subjects that match. */
  async list(filter: string): Promise<Entry[]> {
    const entries = await eachOf(await this.subjects(filter), (subject) => this.get(subject));
    return entries.filter((entry) => entry !== undefined);
  }

  /** Removes one message; false when it is gone already. */
  async remove(seq: number): Promise<boolean> {
    return await patiently("remove", async () => {
      try {
        return await this.#handles.manager.streams.deleteMessage(this.#options.name, seq, false);
      } catch (error) {
        if (error instanceof JetStreamApiError && !isTransient(error)) return false;
        throw error;
      }
    });
  }

  /**
   * Calls `handler` in order, without a gap, for the messages from a sequence on. `caughtUp` resolves when those that were
   * stored before this call have been handled. After a loss it calls `lost`, and `handler` for all messages again.
   */
  follow(from: FollowFrom, handler: (note: Note) => void): Promise<Followed> {
    return this.#follow(from, (note) => {
      this.#note(note.subject, note.seq);
      handler(note);
    });
  }

  async #follow(
    { filter, from, lost }: FollowFrom,
    handler: (note: Note) => void,
  ): Promise<Followed> {
    const following = new Following({
      filter,
      from,
      handler,
      lossAfterMs: this.lossAfterMs,
      session: () => this.#handles.session?.() ?? "",
      storedAt: (seq) => this.storedAt(seq),
      lost: () => {
        this.losses += 1;
        this.#forget();
        lost?.();
      },
      consume: (start) => this.consume(filter, start),
      next: (start) => this.next(filter, start),
      last: () => this.lastSeq(),
    });
    await following.start();
    return { caughtUp: following.caughtUp, stop: () => following.stop() };
  }

  /** Calls `handler` in order for the messages that are stored now, from `from` on, until it returns `false`. */
  async scan(filter: string, handler: (note: Note) => unknown, from = 1): Promise<void> {
    const isOver = Promise.withResolvers<void>();
    let isWanted = true;
    const following = await this.#follow({ filter, from }, (note) => {
      if (isWanted && handler(note) === false) {
        isWanted = false;
        isOver.resolve();
      }
    });
    await Promise.race([following.caughtUp, isOver.promise]);
    following.stop();
  }

  /** `pending`: messages that wait at the consumer's server, which may lag behind the stream's leader. */
  protected async consume(filter: string, from: number): Promise<Consuming> {
    return await patiently("follow", async () => {
      const consumer = await this.#handles.client.consumers.get(this.#options.name, {
        filter_subjects: filter,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: Math.max(1, from),
        headers_only: true,
      });
      const { num_pending: pending } = await consumer.info();
      return { messages: await consumer.consume({ max_messages: FOLLOWED_AT_ONCE }), pending };
    });
  }

  async #publish(
    subject: string,
    text: string,
    { expected, round = 0, last, note, mark }: PutOptions & { mark: string },
  ): Promise<number | undefined> {
    const natsHeaders = headers();
    natsHeaders.set(WRITE_HEADER, mark);
    if (note !== undefined) natsHeaders.set(NOTE_HEADER, note);
    const { seq, duplicate } = await this.#handles.client.publish(subject, text, {
      headers: natsHeaders,
      timeout: ATTEMPT_MS,
      // Three servers check `expected` before they agree on a write: two at once may both pass. This id lets one pass.
      ...(expected === undefined || expected === 0 ? {} : { msgID: `${subject} ${expected} ${round}` }),
      expect: {
        ...(expected === undefined ? {} : { lastSubjectSequence: expected }),
        ...(last === undefined ? {} : { lastSequence: last }),
      },
    });
    return duplicate ? undefined : seq;
  }

  async #seqOfMark(subject: string, mark: string): Promise<number | undefined> {
    const stored = await this.message({ last_by_subj: subject });
    return stored?.header.get(WRITE_HEADER) === mark ? stored.seq : undefined;
  }

  protected message(request: MsgRequest): Promise<StoredMsg | null> {
    return patiently("read", () => this.#handles.manager.streams.getMessage(this.#options.name, request));
  }

  /** With `filter`, also the subjects that match it and have a message. */
  protected info(filter?: string): Promise<StreamInfo> {
    const options = filter === undefined ? {} : { subjects_filter: filter };
    return patiently("read", () => this.#handles.manager.streams.info(this.#options.name, options));
  }

  #note(subject: string, seq: number): void {
    this.#seen = Math.max(this.#seen, seq);
    const newest = Math.max(seq, this.#known.get(subject) ?? 0);
    setNewest(this.#known, [subject, newest], { max: KNOWN_MAX });
  }
}

const FOLLOWED_AT_ONCE = 1_000;
const READ_AT_ONCE = 64;

/** Runs `work` for each item, some at a time, and keeps the order. */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += READ_AT_ONCE) {
    results.push(...await Promise.all(items.slice(start, start + READ_AT_ONCE).map(work)));
  }
  return results;
}

function entryOf(message: StoredMsg | null): Entry | undefined {
  if (message === null) return undefined;
  return { subject: message.subject, seq: message.seq, text: message.string() };
}

/** Runs `work`, retried while NATS elects a leader or reconnects. Throws StoreUnavailable if that takes too long. */
export async function patiently<T>(
  what: string,
  work: () => Promise<T>,
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): Promise<T> {
  const end = systemClock.elapsed() + patienceMs;
  try {
    return await retry(work, {
      isTransient: (error) => isTransient(error) && systemClock.elapsed() < end,
      backoff: BACKOFF,
      clock: systemClock,
    });
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new StoreUnavailable(`Cannot ${what} in NATS: ${requestFault(error)}`, { cause: error });
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof JetStreamApiError && WRONG_LAST_SEQUENCE.includes(error.code);
}

function isTransient(error: unknown): boolean {
  if (error instanceof JetStreamApiError) {
    return error.code === NO_PEERS || TRANSIENT_STATUS.includes(error.status);
  }
  if (error instanceof JetStreamError) {
    return "code" in error && TRANSIENT_STATUS.includes(Number(error.code));
  }
  return error instanceof TimeoutError || error instanceof NoRespondersError ||
    error instanceof RequestError ||
    error instanceof Error && error.name === NO_LEADER;
}
