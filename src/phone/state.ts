/** The page's whole state and the one pure function that changes it. */
import type { LinkState } from "../client/relay_link.ts";
import type { LinkProblem } from "../client/link_problem.ts";
import type { PushAccepted, PushRecord } from "../protocol/push.ts";
import type { DeviceSessions } from "../protocol/session.ts";
import { type Inbox, inboxItemOf, withItemReceipt, withItems } from "./inbox.ts";
import {
  type HeardReceipt,
  type Message,
  messageOf,
  type SendFailure,
  withReceipt,
  withTold,
} from "./message.ts";
import { answerDraftKey, draftKey } from "./names.ts";
import type { Route } from "./route.ts";

/** The newest messages that the page keeps; older ones are at the relay. */
export const MESSAGES_MAX = 1_000;

/** A failure that the sign-in page shows in words. */
export interface SignInProblem {
  code: string;
  message: string;
}

export type SignIn =
  | { kind: "restoring" }
  | { kind: "out"; problem?: SignInProblem }
  | { kind: "busy"; how: "key" | "pair" }
  | { kind: "in" };

/** What came of a pairing, until the person has read it. */
export type PairingNews =
  | { kind: "words"; deviceId: string; host: string; words: readonly string[] }
  | { kind: "failed"; code: string; message: string };

/** A link would sign the phone in as somebody else: nothing changes until the person has chosen. */
export interface AccountSwap {
  from: string;
  to: string;
}

/** `live` only while the relay answers: messages are sent then, and held otherwise. */
export type LinkView =
  | { kind: "connecting" }
  | { kind: "live" }
  | { kind: "down"; problem?: LinkProblem };

export interface PhoneState {
  signIn: SignIn;
  link: LinkView;
  /** Relay's clock minus this one, in milliseconds. */
  clockOffsetMs: number;
  /** Undefined until the relay told them once. */
  devices: readonly DeviceSessions[] | undefined;
  messages: ReadonlyMap<string, Message>;
  history: "unread" | "more" | "whole";
  /** The oldest push of the pages of the history that were read: the next page goes on from it. */
  oldestRead: { id: string; createdAt: number } | undefined;
  inbox: Inbox;
  route: Route;
  /** Device ids of the hosts that share a secret with this phone. */
  paired: ReadonlySet<string>;
  pairing?: PairingNews | undefined;
  swap?: AccountSwap | undefined;
  /** What is typed and not sent, by `deviceId/session` or `ask/<question>`. */
  drafts: Readonly<Record<string, string>>;
}

export type PhoneEvent =
  /** Whoever signs in or out begins with nothing of what another account showed. */
  | { type: "signIn"; signIn: SignIn }
  | { type: "paired"; paired: ReadonlySet<string> }
  | { type: "pairing"; news: PairingNews | undefined }
  | { type: "swap"; swap: AccountSwap | undefined }
  | { type: "link"; link: LinkState }
  | { type: "sessions"; devices: readonly DeviceSessions[] }
  | { type: "device"; device: DeviceSessions }
  | { type: "receipt"; update: { id: string; receipt: HeardReceipt } }
  /** `page`: they are a page of the history, up to its beginning when it is `last`. */
  | { type: "history"; records: readonly PushRecord[]; page?: "more" | "last" }
  | { type: "restored"; messages: readonly Message[] }
  | { type: "composed"; message: Message }
  | { type: "accepted"; accepted: PushAccepted }
  | { type: "failed"; id: string; failure: SendFailure }
  | { type: "retried"; id: string }
  | { type: "discarded"; id: string }
  | { type: "route"; route: Route }
  | { type: "drafted"; key: string; text: string };

export const INITIAL_STATE: PhoneState = {
  signIn: { kind: "restoring" },
  link: { kind: "connecting" },
  clockOffsetMs: 0,
  devices: undefined,
  messages: new Map(),
  history: "unread",
  oldestRead: undefined,
  inbox: new Map(),
  route: { view: "picker" },
  paired: new Set(),
  drafts: {},
};

export function reduce(state: PhoneState, event: PhoneEvent): PhoneState {
  switch (event.type) {
    case "signIn":
      return withSignIn(state, event.signIn);
    case "paired":
      return { ...state, paired: event.paired };
    case "pairing":
      return { ...state, pairing: event.news };
    case "swap":
      return { ...state, swap: event.swap };
    case "link":
      return withLink(state, event.link);
    case "sessions":
      return { ...state, devices: event.devices.map((device) => laterDevice(state.devices, device)) };
    case "device":
      return { ...state, devices: withDevice(state.devices ?? [], event.device) };
    case "receipt":
      return {
        ...change(state, event.update.id, (message) => withReceipt(message, event.update.receipt)),
        inbox: withItemReceipt(state.inbox, event.update),
      };
    case "history":
      return withHistory(state, event);
    case "restored":
      return withMessages(state, event.messages);
    case "composed":
      return withDraft(withMessages(state, [event.message]), draftKeyOf(event.message), "");
    case "accepted":
      return change(state, event.accepted.id, (message) => taken(message, event.accepted));
    case "failed":
      return change(state, event.id, (message) => ({
        ...message,
        progress: { kind: "failed", failure: event.failure },
      }));
    case "retried":
      return change(state, event.id, (message) => ({ ...message, progress: { kind: "outbox" } }));
    case "discarded":
      return without(state, event.id);
    case "route":
      return { ...state, route: event.route };
    case "drafted":
      return withDraft(state, event.key, event.text);
  }
}

function withDraft(state: PhoneState, key: string, text: string): PhoneState {
  return { ...state, drafts: { ...state.drafts, [key]: text } };
}

/** A question about another account outlasts that the old one is entered anew. */
function withSignIn({ route, swap }: PhoneState, signIn: SignIn): PhoneState {
  return { ...INITIAL_STATE, route, signIn, ...(signIn.kind === "in" && swap ? { swap } : {}) };
}

function withLink(state: PhoneState, link: LinkState): PhoneState {
  switch (link.state) {
    case "connected":
      return {
        ...state,
        clockOffsetMs: link.clockOffsetMs,
        link: link.answering ? { kind: "live" } : { kind: "down" },
      };
    case "waiting":
      return { ...state, link: { kind: "down", ...(link.problem ? { problem: link.problem } : {}) } };
    case "connecting":
    case "closed":
      return state.link.kind === "live" ? { ...state, link: { kind: "down" } } : state;
  }
}

/** An answer over HTTP may be older than what came live meanwhile. */
function laterDevice(known: readonly DeviceSessions[] | undefined, told: DeviceSessions): DeviceSessions {
  const live = known?.find(({ deviceId }) => deviceId === told.deviceId);
  return live !== undefined && live.lastSeen > told.lastSeen ? live : told;
}

function withDevice(devices: readonly DeviceSessions[], device: DeviceSessions): readonly DeviceSessions[] {
  const known = devices.some(({ deviceId }) => deviceId === device.deviceId);
  if (!known) return [...devices, device];
  return devices.map((old) => old.deviceId === device.deviceId ? device : old);
}

function withHistory(
  state: PhoneState,
  { records, page }: { records: readonly PushRecord[]; page?: "more" | "last" },
): PhoneState {
  const told = records.map(messageOf).filter((message) => message !== undefined);
  const items = records.map(inboxItemOf).filter((item) => item !== undefined);
  const history = page === "last" || state.history === "whole" ? "whole" : "more";
  const [first] = page === undefined ? [] : records;
  const isOlder = first !== undefined && first.push.createdAt < (state.oldestRead?.createdAt ?? Infinity);
  return {
    ...withMessages(state, told),
    history,
    oldestRead: isOlder ? { id: first.push.id, createdAt: first.push.createdAt } : state.oldestRead,
    inbox: withItems(state.inbox, items),
  };
}

function draftKeyOf(message: Message): string {
  return message.answers === undefined ? draftKey(message) : answerDraftKey(message.answers.question);
}

/** Adds messages, keeps what is known better already, and bounds how many there are. */
function withMessages(state: PhoneState, added: readonly Message[]): PhoneState {
  const messages = new Map(state.messages);
  for (const message of added) {
    const known = messages.get(message.id);
    const keep = known === undefined ? message : withTold(known, message);
    messages.set(message.id, keep);
  }
  return { ...state, messages: bounded(messages) };
}

function bounded(messages: Map<string, Message>): Map<string, Message> {
  if (messages.size <= MESSAGES_MAX) return messages;
  const newest = [...messages.values()].sort((one, other) => other.createdAt - one.createdAt);
  const kept = newest.filter(({ progress }, place) => place < MESSAGES_MAX || progress.kind !== "taken");
  return new Map(kept.map((message) => [message.id, message]));
}

/** No host has seen a message whose relay has just taken it, whatever the relay says. */
function taken(message: Message, { state: told, expiresAt }: PushAccepted): Message {
  const state = message.answers === undefined ? "queued" : told;
  if (message.progress.kind === "taken") return withReceipt(message, message.progress.receipt, expiresAt);
  return withReceipt(message, { state, final: false, at: {} }, expiresAt);
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
