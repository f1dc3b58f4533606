/** Pushes in NATS: one message each, whose sequence is the order of acceptance, and a document with its newest receipt. */
import { decodeBase64url, encodeBase64url, utf8Length } from "../async/encodings.ts";
import type { Push } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import { subjectToken } from "../runtime/nats.ts";
import { Documents, type NatsContext, untilStored } from "./nats_context.ts";
import { History, type RemovalBounds, Sweep } from "./nats_history.ts";
import { type Checkpoint, noteOfPush, noteOfReceipt, OpenPushes, type ReceiptNote } from "./nats_open.ts";
import type { Presences } from "./nats_presences.ts";
import { eachOf, type Entry } from "./nats_streams.ts";
import {
  type AnswerOutcome,
  type Charge,
  type NewPush,
  type PushName,
  type PushStore,
  STORED_REGAINED_PER_MS,
  type StoredPush,
  StoreUnavailable,
} from "./store.ts";

/** What a push costs in addition to its text: digest, subjects, and a longer receipt. */
const OVERHEAD_BYTES = 512;

/**
 * A missing answer is stored only within this time after it was made. Later, it may be missing because the sweep has
 * removed it; the sweep removes nothing under a week old.
 */
const COMPLETED_MS = 86_400_000;

/** By how much nodes' corrected times may differ; if a time is further back, a clock was set. */
const CLOCKS_DIFFER_MS = 10_000;

/** A push's newest receipt; `seq` is the push's, since an id may be used again when its push has been removed. */
interface StoredReceipt {
  seq: number;
  account: string;
  id: string;
  expiresAt: number;
  receipt: Receipt;
  /** The answer that closes this question, until it is stored: any node that finds it missing stores it. */
  answer?: PushText;
}

type PushText = Omit<NewPush, "digest"> & { digest: string };

export interface NatsPushes extends PushStore {
  stop(): void;
  /** Saves what nodes that start later do not need to read. */
  saveCheckpoint(): Promise<void>;
  /** Stores the answers that have closed their questions but are missing. */
  completeAnswers(): Promise<void>;
  /** The sequence of the newest push that this node can have read. */
  newestPush(): Promise<number>;
}

interface NatsPushesOptions {
  prefix: string;
  presences: Presences;
  /** By the clock that all nodes share, epoch milliseconds. */
  now(): number;
}

export function natsPushes(context: NatsContext, { prefix, presences, now }: NatsPushesOptions): NatsPushes {
  const pushes = new Pushes(context, { prefix, now });
  const { open } = pushes;
  const history = new History({
    pushes: context.pushes,
    prefix,
    find: (name) => pushes.find(name),
    async openQuestions(account) {
      await open.ready();
      return open.questions(account);
    },
  });
  return {
    stop: () => pushes.stop(),
    saveCheckpoint: () => pushes.saveCheckpoint(),
    completeAnswers: () => pushes.completeAnswers(),
    newestPush: async () => Math.max(await context.pushes.lastSeq(), open.upTo),
    insertPush: (push) => pushes.insert(push),
    insertAnswer: (answer, question) => pushes.insertAnswer(answer, question),
    findPush: (name) => pushes.find(name),
    storedBytes: async (sender, now) => await pushes.charged(sender, now),
    pagePushes: (request) => history.page(request),
    changeReceipt: (name, decide) => pushes.changeReceipt(name, decide),
    async openPushes(device, { afterSeq, limit, type }) {
      await open.ready();
      let known = open.ofDevice(device, afterSeq).filter((one) => type === undefined || one.type === type);
      while (known.length > 0) {
        const found = await pushes.firstOpen(known, limit);
        // Read after the pushes: those found while the device is connected here were stored before it goes offline.
        const held = await presences.heldHere(device);
        if (held === undefined) return [];
        if (!found.some(({ seq }) => held.has(seq))) return found;
        known = known.filter(({ seq }) => !held.has(seq));
      }
      return [];
    },
    holdBack: async ({ account, target, seq, push: { expiresAt } }) =>
      target !== undefined && await presences.holdBack({ account, id: target }, { seq, expiresAt }),
    async duePushes({ now, after, limit }) {
      await open.ready();
      const [expiry, seq] = [after?.push.expiresAt ?? 0, after?.seq ?? 0];
      const known = open.due(now).filter((one) =>
        one.expiresAt > expiry || one.expiresAt === expiry && one.seq > seq
      );
      return await pushes.firstOpen(known, limit);
    },
    removePushes: (bounds) => pushes.removeOld(bounds),
    watchPushes: (handler) => open.watch(handler),
    backlog: () => open.backlog,
  };
}

class Pushes {
  readonly open: OpenPushes;
  readonly #context: NatsContext;
  readonly #prefix: string;
  readonly #receipts: Documents<Partial<StoredReceipt>>;
  readonly #charges: Documents<Charge>;
  readonly #sweep: Sweep;
  readonly #now: () => number;
  readonly #end = new AbortController();

  constructor(context: NatsContext, { prefix, now }: Pick<NatsPushesOptions, "prefix" | "now">) {
    this.#context = context;
    this.#prefix = prefix;
    this.#now = now;
    this.#receipts = new Documents({ stream: context.receipts, empty: () => ({}), note: noteOfStored });
    this.#charges = context.documents(() => ({ bytes: 0, at: 0 }));
    this.#sweep = new Sweep(context, prefix);
    this.open = new OpenPushes({
      pushes: context.pushes,
      receipts: context.receipts,
      filters: { pushes: `${prefix}.push.>`, receipts: `${prefix}.receipt.>` },
      checkpoint: () => this.#checkpoint(),
      // Its asker waits for it.
      answered: (note) => untilStored(() => this.#completeAnswer(note), this.#end),
    });
  }

  stop(): void {
    this.#end.abort();
    this.open.stop();
  }

  /** `seq` is the sequence of a push that this node has seen under this name. */
  async find({ account, id, seq = 0 }: PushName & { seq?: number }): Promise<StoredPush | undefined> {
    const [push, receipt] = await Promise.all([
      this.#context.pushes.get(this.#subject("push", { account, id }), { atLeast: seq, sure: true }),
      this.#receipts.get(this.#subject("receipt", { account, id })),
    ]);
    return push && storedOf(push, receipt);
  }

  /**
   * The message's subject names account and id, and must have no message yet: one write stores the push and refuses a
   * reused id.
   */
  async insert(push: NewPush): Promise<{ stored: StoredPush; duplicate: boolean }> {
    const { account, push: { id, from, createdAt } } = push;
    const note = JSON.stringify(noteOfPush(push));
    const subject = this.#subject("push", { account, id });
    const seq = await this.#context.pushes.put(subject, JSON.stringify(textOf(push)), { expected: 0, note });
    if (seq === undefined) {
      const stored = await this.find({ account, id });
      if (stored === undefined) {
        throw new StoreUnavailable("Cannot find the push that has this id: it was just removed");
      }
      return { stored, duplicate: true };
    }
    this.open.stored(seq);
    const bytes = sizeOf(push.push) + sizeOf(push.receipt) + OVERHEAD_BYTES;
    const charged = this.#charges.change(this.#context.subjects.charge(account, from), (charge) => {
      charge.bytes = remaining(charge, createdAt) + bytes;
      const isOlder = createdAt < charge.at && charge.at - createdAt < CLOCKS_DIFFER_MS;
      if (!isOlder) charge.at = createdAt;
    });
    // The push is stored: after an error the sender would send it once more.
    await charged.catch((error) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
    return { stored: { ...push, seq }, duplicate: false };
  }

  /**
   * The question's receipt carries the answer until it is stored, so that nothing is lost if a node dies between the
   * two writes.
   */
  async insertAnswer(
    answer: NewPush,
    question: { id: string; close: (stored: StoredPush) => Receipt | undefined },
  ): Promise<AnswerOutcome> {
    const { account, push } = answer;
    const known = await this.find({ account, id: push.id });
    if (known !== undefined) return { kind: "duplicate", answer: known };
    const closed = await this.#change({ account, id: question.id }, {
      decide: question.close,
      answer: textOf(answer),
    });
    const carried = closed?.answer;
    const isCarried = carried?.push.id === push.id;
    if (closed === undefined || !isCarried || (!closed.changed && this.#mayBeRemoved(carried))) {
      // Another node may have stored it, and taken it from the receipt, since this one looked.
      const stored = await this.find({ account, id: push.id });
      return stored === undefined ? { kind: "closed" } : { kind: "duplicate", answer: stored };
    }
    const { stored, duplicate } = await this.insert(pushOf(carried));
    // The answer is stored, so its sender must not get an error.
    await this.#dropAnswer({ account, id: question.id }, push.id).catch((error) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
    // Another node may have seen the receipt and stored it first: the node that closed the question still reports it.
    if (duplicate && !closed.changed) return { kind: "duplicate", answer: stored };
    return { kind: "stored", answer: stored, question: closed.stored };
  }

  async changeReceipt(
    name: PushName,
    decide: (stored: StoredPush) => Receipt | undefined,
  ): Promise<{ stored: StoredPush; changed: boolean } | undefined> {
    const outcome = await this.#change(name, { decide });
    return outcome && { stored: outcome.stored, changed: outcome.changed };
  }

  /** The first of them that are still open; the others are forgotten. */
  async firstOpen(known: readonly { account: string; id: string; seq: number }[], limit: number) {
    const found: StoredPush[] = [];
    for (let start = 0; start < known.length && found.length < limit; start += limit) {
      const some = await eachOf(known.slice(start, start + limit), async (one) => {
        const stored = await this.find(one);
        const isOpen = stored?.seq === one.seq && !stored.receipt.final;
        if (!isOpen) this.open.remove(one);
        return isOpen ? stored : undefined;
      });
      found.push(...some.filter((one) => one !== undefined));
    }
    return found.slice(0, limit);
  }

  async charged({ account, from }: { account: string; from: string }, now: number): Promise<number> {
    const charge = await this.#charges.get(this.#context.subjects.charge(account, from));
    return charge === undefined ? 0 : remaining(charge, now);
  }

  /** Removes old pushes. A receipt is removed after its push: without it the push would be open again. */
  async removeOld(bounds: RemovalBounds): Promise<number> {
    const { pushes, receipts, state, subjects } = this.#context;
    const old = await this.#sweep.findOld(bounds);
    const counted = await eachOf([...old], async ([seq, name]) => {
      if (bounds.signal?.aborted === true) return false;
      const isRemoved = await pushes.remove(seq);
      this.open.remove({ ...name, seq });
      const receipt = await receipts.get(this.#subject("receipt", name));
      if (receipt !== undefined) await receipts.remove(receipt.seq);
      return isRemoved;
    });
    for (const { seq, value } of await this.#charges.list(subjects.everyCharge)) {
      if (value.at < bounds.madeBefore) await state.remove(seq);
    }
    return counted.filter((isRemoved) => isRemoved).length;
  }

  /** Saves a checkpoint for nodes that start later; called every few seconds. */
  async saveCheckpoint(): Promise<void> {
    const checkpoint = this.open.newCheckpoint();
    if (checkpoint === undefined) return;
    const { state, subjects, pushes } = this.#context;
    const last = checkpoint.pushes;
    const lastStoredAt = last === 0 ? undefined : await pushes.storedAt(last);
    await state.put(subjects.checkpoint, JSON.stringify({ ...checkpoint, lastStoredAt }));
  }

  /**
   * Returns the stored checkpoint, unless the streams were restored from an older backup or created again: then it is
   * removed, because the next messages get the sequences that it covers.
   */
  async #checkpoint(): Promise<Checkpoint | undefined> {
    const { state, subjects, pushes, receipts } = this.#context;
    const stored = await state.get(subjects.checkpoint);
    if (stored === undefined) return undefined;
    const checkpoint = JSON.parse(stored.text) as Checkpoint;
    const [ofPushes, ofReceipts] = await Promise.all([pushes.lastSeq(), receipts.lastSeq()]);
    const isBehind = ofPushes < checkpoint.pushes || ofReceipts < checkpoint.receipts;
    if (!isBehind && !await this.#isReplaced(checkpoint)) return checkpoint;
    await state.remove(stored.seq);
    return undefined;
  }

  /** True if another message has the sequence of the last push that the checkpoint covers. */
  async #isReplaced({ pushes, lastStoredAt }: Checkpoint): Promise<boolean> {
    if (lastStoredAt === undefined) return false;
    const found = await this.#context.pushes.storedAt(pushes);
    return found !== undefined && found !== lastStoredAt;
  }

  async #change(
    name: PushName,
    { decide, answer }: { decide: (stored: StoredPush) => Receipt | undefined; answer?: PushText },
  ): Promise<{ stored: StoredPush; changed: boolean; answer: PushText | undefined } | undefined> {
    const entry = await this.#context.pushes.get(this.#subject("push", name), { sure: true });
    if (entry === undefined) return undefined;
    const outcome = await this.#receipts.change(this.#subject("receipt", name), (value) => {
      const stored = storedOf(entry, value);
      const carried = value.seq === entry.seq ? value.answer : undefined;
      const receipt = decide(stored);
      if (receipt === undefined) return { stored, changed: false, answer: carried };
      const { expiresAt } = stored.push;
      Object.assign(value, { ...name, seq: entry.seq, expiresAt, receipt, answer: answer ?? carried });
      return { stored: { ...stored, receipt }, changed: true, answer };
    });
    if (outcome.stored.receipt.final) this.open.remove({ ...name, seq: entry.seq });
    return outcome;
  }

  async completeAnswers(): Promise<void> {
    const notes: ReceiptNote[] = [];
    await this.#context.receipts.scan(`${this.#prefix}.receipt.>`, ({ note }) => {
      const receipt = JSON.parse(note) as ReceiptNote;
      if (receipt.answer !== undefined) notes.push(receipt);
    });
    await eachOf(notes, (note) => this.#completeAnswer(note));
  }

  /** Every node does this for every answer that it sees; the first write wins. */
  async #completeAnswer({ account, id, answer }: ReceiptNote): Promise<void> {
    if (answer === undefined) return;
    const known = await this.#context.pushes.get(this.#subject("push", { account, id: answer }));
    if (known !== undefined) return;
    const receipt = await this.#receipts.get(this.#subject("receipt", { account, id }));
    const carried = receipt?.answer;
    if (carried?.push.id !== answer || this.#mayBeRemoved(carried)) return;
    const { duplicate } = await this.insert(pushOf(carried));
    if (!duplicate) await this.#dropAnswer({ account, id }, answer);
  }

  /** Removes a stored answer from its question's receipt, so that no node stores it again after it was removed. */
  async #dropAnswer(question: PushName, answer: string): Promise<void> {
    await this.#receipts.change(this.#subject("receipt", question), (value) => {
      if (value.answer?.push.id === answer) delete value.answer;
    });
  }

  /** True if the answer may have been removed: receipts of older versions carry their answers forever. */
  #mayBeRemoved({ push }: PushText): boolean {
    return this.#now() - push.createdAt > COMPLETED_MS;
  }

  #subject(kind: "push" | "receipt", { account, id }: PushName): string {
    return `${this.#prefix}.${kind}.${subjectToken(account)}.${subjectToken(id)}`;
  }
}

function remaining({ bytes, at }: Charge, now: number): number {
  return Math.max(0, bytes - STORED_REGAINED_PER_MS * Math.max(0, now - at));
}

function noteOfStored(
  { account = "", id = "", expiresAt = 0, seq = 0, receipt, answer }: Partial<StoredReceipt>,
) {
  if (receipt === undefined) return "";
  return JSON.stringify(noteOfReceipt({ account, id, expiresAt, seq }, { receipt, answer: answer?.push.id }));
}

export function textOf({ account, target, digest, push, receipt }: NewPush): PushText {
  return { account, target, digest: encodeBase64url(digest), push, receipt };
}

function pushOf({ account, target, digest, push, receipt }: PushText): NewPush {
  const bytes = decodeBase64url(digest);
  if (bytes === undefined) {
    throw new StoreUnavailable(`Cannot read the push "${push.id}": its digest is damaged`);
  }
  return { account, target, digest: bytes, push, receipt };
}

/** Combines a push with its receipt; a receipt of an earlier push with the same id is ignored. */
function storedOf({ seq, text }: Entry, changed: Partial<StoredReceipt> | undefined): StoredPush {
  const push = pushOf(JSON.parse(text) as PushText);
  const receipt = changed?.seq === seq ? changed.receipt ?? push.receipt : push.receipt;
  return { ...push, receipt, seq };
}

function sizeOf(value: Push | Receipt): number {
  return utf8Length(JSON.stringify(value));
}
