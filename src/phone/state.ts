/** The page's whole state: the pure function that changes it, the store that holds it, and selectors for the views. */
import type { LinkProblem } from "../client/link_problem.ts";
import type { LinkState } from "../client/relay_link.ts";
import type { DeviceSessions, HostDetails } from "../protocol/session.ts";
import type { PushAccepted } from "../protocol/push.ts";
import { type Inbox, INBOX_MAX, inboxItemOf, withItemReceipt, withItems } from "./inbox.ts";
import {
  type CheckedReceipt,
  isText,
  type Message,
  messageOf,
  newestMessages,
  NOT_PREPARED,
  type OpenedRecord,
  saved,
  type SendFailure,
  taken,
  unsent,
  withFailure,
  withoutCancelling,
  withoutSending,
  withProblem,
  withReceipt,
  withRelayCopy,
} from "./message.ts";
import type { HistoryPage } from "./missed_history.ts";
import { openedItem, type Route } from "./route.ts";
import {
  type ListedSessions,
  sessionKey,
  type SessionName,
  withDetails,
  withDevice,
  withListed,
} from "./sessions.ts";

/** The page keeps this many of the newest messages, plus those read further back; older ones stay on the relay. */
export const MESSAGES_MAX = 1_000;

/** `live` only while the relay answers. */
export type LinkView =
  | { kind: "connecting" }
  | { kind: "live" }
  /** `isOpen`: the relay is silent on a connection that was live. Once it answers again, nothing was missed. */
  | { kind: "down"; problem?: LinkProblem | undefined; isOpen?: true };

/** A failure that the sign-in page explains. */
export interface SignInProblem {
  code: string;
  message: string;
  /** The link is kept: it may work when it is tried again. */
  hasLink?: boolean;
  /** This phone's former device id, which should be revoked because the check words differ. */
  deviceId?: string;
}

export type SignIn =
  | { kind: "restoring" }
  | { kind: "out"; problem?: SignInProblem }
  /** `isAgain`: the relay has not answered, and the request is repeated. */
  | { kind: "busy"; how: "key" | "pair"; isAgain?: boolean }
  | { kind: "in" };

/** The result of a pairing, until the user has dismissed it. */
export type PairingResult =
  | { kind: "words"; deviceId: string; host: string; words: readonly string[] }
  | { kind: "failed" } & SignInProblem;

/** A link would sign the phone in to another account: nothing changes until the user has decided. */
export interface AccountSwap {
  from: string;
  to: string;
}

export interface PhoneState {
  signIn: SignIn;
  link: LinkView;
  /** The relay's clock minus this one, in milliseconds. */
  clockOffsetMs: number;
  /** Undefined until the relay has sent them. */
  devices: readonly DeviceSessions[] | undefined;
  /** What hosts report in addition to their sessions, as far as this phone can read it; by device id. */
  details: ReadonlyMap<string, HostDetails>;
  messages: ReadonlyMap<string, Message>;
  history: "unread" | "more" | "whole";
  /** The oldest push read from the history without a gap: the next page continues from it. */
  oldestRead: { id: string; createdAt: number } | undefined;
  /** The number of records read further back: that many more are kept. */
  readBack: number;
  inbox: Inbox;
  route: Route;
  /** Device ids of the hosts that share a secret with this phone. */
  paired: ReadonlySet<string>;
  pairing?: PairingResult | undefined;
  swap?: AccountSwap | undefined;
  /** True once the account's drafts and read marks are loaded. */
  isRestored: boolean;
  /** Unsent text, by `sessionKey` or `answerDraftKey`. */
  drafts: Readonly<Record<string, string>>;
  /** Up to when the user has read what agents sent, by `sessionKey` or `ALL_SEEN`; by the relay's clock. */
  seen: Readonly<Record<string, number>>;
}

export type PhoneEvent =
  /** Signing in or out resets what belongs to an account. */
  | { type: "signIn"; signIn: SignIn }
  | { type: "paired"; paired: ReadonlySet<string> }
  | { type: "pairing"; result: PairingResult | undefined }
  | { type: "swap"; swap: AccountSwap | undefined }
  | { type: "link"; link: LinkState }
  | { type: "sessions" } & ListedSessions
  | { type: "device"; device: DeviceSessions }
  | { type: "details"; deviceId: string; details: HostDetails }
  | { type: "receipt"; update: { id: string; receipt: CheckedReceipt } }
  /** `page`: the records are a page of the history. */
  | { type: "history"; records: readonly OpenedRecord[]; page?: HistoryPage }
  | { type: "restored"; messages: readonly Message[] } & Pick<PhoneState, "drafts" | "seen">
  /** `keepsDraft`: the text does not come from the field. */
  | { type: "composed"; message: Message; keepsDraft?: boolean }
  | { type: "saved"; id: string }
  | { type: "accepted"; accepted: PushAccepted }
  | { type: "failed" | "delayed"; id: string; failure: SendFailure }
  | { type: "retried"; id: string }
  | { type: "discarded"; id: string }
  /** The user wants to cancel the message; `edit`: its text then becomes the draft. */
  | { type: "cancelled"; id: string; edit: boolean }
  | { type: "route"; route: Route }
  | { type: "drafted"; key: string; text: string }
  | { type: "seen"; key: string; at: number }
  /** The text of a message that will not be typed goes back into the field. */
  | { type: "edited"; message: Message };

export const INITIAL_STATE: PhoneState = {
  signIn: { kind: "restoring" },
  link: { kind: "connecting" },
  clockOffsetMs: 0,
  devices: undefined,
  details: new Map(),
  messages: new Map(),
  history: "unread",
  readBack: 0,
  oldestRead: undefined,
  inbox: new Map(),
  route: { view: "picker" },
  paired: new Set(),
  isRestored: false,
  drafts: {},
  seen: {},
};

export function reduce(state: PhoneState, event: PhoneEvent): PhoneState {
  switch (event.type) {
    case "signIn":
      return withSignIn(state, event.signIn);
    case "paired":
      return { ...state, paired: event.paired };
    case "pairing":
      return { ...state, pairing: event.result };
    case "swap":
      return { ...state, swap: event.swap };
    case "link":
      return withLink(state, event.link);
    case "sessions":
      return { ...state, devices: withListed(state.devices ?? [], event) };
    case "device":
      return { ...state, devices: withDevice(state.devices ?? [], event.device) };
    case "details":
      return { ...state, details: withDetails(state.details, event) };
    case "receipt":
      return withUpdate(state, event.update);
    case "history":
      return edited(withHistory(state, event), event.records.map(({ push }) => push.id));
    case "restored":
      return withRestored(state, event);
    case "seen":
      return withSeen(state, event);
    case "composed":
      return withComposed(state, event);
    case "accepted":
      return change(state, event.accepted.id, (message) => taken(message, event.accepted));
    case "failed":
      return withFailed(state, event);
    case "delayed":
      return change(state, event.id, (message) => withProblem(message, event.failure));
    case "saved":
      return change(state, event.id, saved);
    case "retried":
      return withRetried(state, event.id);
    case "discarded":
      return without(state, event.id);
    case "cancelled":
      return change(state, event.id, (message) => withoutSending(message, event.edit));
    case "route":
      return { ...state, route: event.route };
    case "drafted":
      return withDraft(state, event.key, event.text);
    case "edited":
      return withEdited(state, event.message);
  }
}

function withUpdate(state: PhoneState, update: { id: string; receipt: CheckedReceipt }): PhoneState {
  const { id, receipt } = update;
  const changed = change(state, id, (message) => withReceipt(message, receipt));
  return edited({ ...changed, inbox: withItemReceipt(state.inbox, update) }, [id]);
}

function withRestored(
  state: PhoneState,
  { messages, drafts, seen }: Extract<PhoneEvent, { type: "restored" }>,
): PhoneState {
  return { ...withMessages(state, messages), drafts: { ...drafts, ...state.drafts }, seen, isRestored: true };
}

/** The text of a failed answer becomes the draft again: nothing else keeps it once its question is closed. */
function withFailed(state: PhoneState, { id, failure }: { id: string; failure: SendFailure }): PhoneState {
  const failed = change(state, id, (message) => withFailure(message, failure));
  const message = failed.messages.get(id);
  if (message?.progress.kind !== "failed") return failed;
  const { cancels = "", answers } = message;
  if (answers !== undefined && answers.data === undefined) return withEdited(failed, message);
  // An error that does not come from the relay does not show what became of the message to cancel.
  if ([NOT_PREPARED, "bad_answer"].includes(failure.code)) return failed;
  return change(failed, cancels, (cancelled) => withoutCancelling(cancelled, failure));
}

/** Sends an answer again, and empties its draft, which holds the same text. */
function withRetried(state: PhoneState, id: string): PhoneState {
  const { answers } = state.messages.get(id) ?? {};
  const retried = change(state, id, unsent);
  return answers === undefined ? retried : withDraft(retried, answerDraftKey(answers.question), "");
}

/** A cancellation leaves the draft as it is. */
function withComposed(
  state: PhoneState,
  { message, keepsDraft = false }: Extract<PhoneEvent, { type: "composed" }>,
): PhoneState {
  const added = withMessages(state, [message]);
  return isText(message) && !keepsDraft ? withDraft(added, draftKeyOf(message), "") : added;
}

/** Puts the text of messages that were cancelled to be edited into the draft, before its text. */
function edited(state: PhoneState, ids: readonly string[]): PhoneState {
  for (const id of ids) {
    const message = state.messages.get(id);
    if (message?.editing !== true || message.progress.kind !== "taken") continue;
    const { receipt } = message.progress;
    if (!receipt.final) continue;
    state = change(state, id, ({ editing: _done, ...rest }) => rest);
    if (receipt.state === "withdrawn") state = withEdited(state, message);
  }
  return state;
}

/** Puts the message's text into the draft, before its text, unless an earlier page has done so. */
function withEdited(state: PhoneState, message: Message): PhoneState {
  const key = draftKeyOf(message);
  const before = state.drafts[key] ?? "";
  if (`${before}\n\n`.startsWith(`${message.body}\n\n`)) return state;
  return withDraft(state, key, before.trim() === "" ? message.body : `${message.body}\n\n${before}`);
}

function withSeen(state: PhoneState, { key, at }: { key: string; at: number }): PhoneState {
  return at <= (state.seen[key] ?? -1) ? state : { ...state, seen: { ...state.seen, [key]: at } };
}

function withDraft(state: PhoneState, key: string, text: string): PhoneState {
  return { ...state, drafts: { ...state.drafts, [key]: text } };
}

/** A pending account switch survives signing in to the current account again. */
function withSignIn({ route, swap }: PhoneState, signIn: SignIn): PhoneState {
  return { ...INITIAL_STATE, route, signIn, ...(signIn.kind === "in" && swap ? { swap } : {}) };
}

/** True as long as the page misses nothing. */
export function isLinkOpen(link: LinkView): boolean {
  return link.kind === "live" || "isOpen" in link;
}

function withLink(state: PhoneState, link: LinkState): PhoneState {
  switch (link.state) {
    case "connected":
      return {
        ...state,
        clockOffsetMs: link.clockOffsetMs,
        link: link.answering ? { kind: "live" } : { kind: "down", isOpen: true },
      };
    case "waiting":
      return { ...state, link: { kind: "down", problem: link.problem } };
    case "connecting":
    case "closed":
      return isLinkOpen(state.link) ? { ...state, link: { kind: "down" } } : state;
  }
}

/** How much of the history is left to read after a page. A single push does not change that. */
function historyAfter({ history }: PhoneState, page: HistoryPage | undefined): PhoneState["history"] {
  if (page === "gap") return "more";
  if (page === undefined || history === "whole") return history;
  return page === "last" ? "whole" : "more";
}

function withHistory(
  state: PhoneState,
  { records, page }: { records: readonly OpenedRecord[]; page?: HistoryPage },
): PhoneState {
  const messages = records.map(messageOf).filter((message) => message !== undefined);
  const items = records.map(inboxItemOf).filter((item) => item !== undefined);
  const [first] = page === undefined ? [] : records;
  const oldest = page === "gap" ? Infinity : state.oldestRead?.createdAt ?? Infinity;
  const isOlder = first !== undefined && first.push.createdAt < oldest;
  const readBack = state.readBack + (isOlder ? records.length : 0);
  return {
    ...withOutcomes(withMessages({ ...state, readBack }, messages), records),
    history: historyAfter(state, page),
    oldestRead: isOlder ? { id: first.push.id, createdAt: first.push.createdAt } : state.oldestRead,
    inbox: withItems(state.inbox, items, { opened: openedItem(state.route), most: INBOX_MAX + readBack }),
  };
}

/** Updates requests to hosts: they are known only to the page that made them, and a record only adds the outcome. */
function withOutcomes(state: PhoneState, records: readonly OpenedRecord[]): PhoneState {
  const requests = records.filter(({ push }) => state.messages.get(push.id)?.fromHere);
  return requests.reduce(
    (before, { push: { id, expiresAt }, receipt }) =>
      change(before, id, (message) => withReceipt(message, receipt, expiresAt)),
    state,
  );
}

/** The key of an answer's draft; a message's draft is under its `sessionKey`. */
export function answerDraftKey(questionId: string): string {
  return `ask/${questionId}`;
}

/** Messages with the same key wait for one another: those to one session, or answers to one question. */
export function draftKeyOf(message: Message): string {
  return message.answers === undefined ? sessionKey(message) : answerDraftKey(message.answers.question);
}

/** Adds messages, keeps the later state of known ones, and bounds how many there are. */
function withMessages(state: PhoneState, added: readonly Message[]): PhoneState {
  const messages = new Map(state.messages);
  for (const message of added) {
    const known = messages.get(message.id);
    messages.set(message.id, known === undefined ? message : withRelayCopy(known, message));
  }
  return { ...state, messages: newestMessages(messages, MESSAGES_MAX + state.readBack) };
}

function change(state: PhoneState, id: string, edit: (message: Message) => Message): PhoneState {
  const message = state.messages.get(id);
  if (message === undefined) return state;
  return { ...state, messages: new Map(state.messages).set(id, edit(message)) };
}

function without(state: PhoneState, id: string): PhoneState {
  const messages = new Map(state.messages);
  messages.delete(id);
  return { ...state, messages };
}

export interface Store {
  get(): PhoneState;
  dispatch(event: PhoneEvent): void;
}

export function createStore(onChange: (state: PhoneState) => void): Store {
  let state = INITIAL_STATE;
  return {
    get: () => state,
    dispatch: (event) => {
      const next = reduce(state, event);
      if (next === state) return;
      state = next;
      onChange(state);
    },
  };
}

/** The session's messages, oldest first, including messages for a session of this name that name no device. */
export function messagesOf(state: PhoneState, name: SessionName): Message[] {
  return [...state.messages.values()]
    .filter((message) =>
      isText(message) && message.session === name.session &&
      (message.deviceId === name.deviceId || message.deviceId === "")
    )
    .map((message) => message.deviceId === "" ? { ...message, deviceId: name.deviceId } : message)
    .sort((one, other) => one.createdAt - other.createdAt);
}

/** Ids of the messages whose cancellation is not settled yet. */
export function cancellationsOf({ messages }: PhoneState): ReadonlySet<string> {
  const open = [...messages.values()].filter(({ progress }) =>
    progress.kind === "outbox" || (progress.kind === "taken" && !progress.receipt.final)
  );
  return new Set(open.flatMap(({ cancels }) => cancels ?? []));
}

/** Messages that the relay has not accepted yet, in the order in which they were written. */
export function outboxOf(state: PhoneState): Message[] {
  return [...state.messages.values()]
    .filter(({ progress }) => progress.kind === "outbox")
    .sort((one, other) => one.createdAt - other.createdAt);
}

/** Messages that the relay has and that are not final, newest first. */
export function unsettledOf({ messages }: PhoneState): Message[] {
  return [...messages.values()]
    .filter(({ progress }) => progress.kind === "taken" && !progress.receipt.final)
    .sort((one, other) => other.createdAt - one.createdAt);
}

/** The current time by the relay's clock, in epoch milliseconds. */
export function relayNow(state: PhoneState, now: number): number {
  return now + state.clockOffsetMs;
}
