/** One session: its state, its terminal or its messages, and the field for the next message. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import { SKEW_MS } from "../../protocol/limits.ts";
import { isSessionName } from "../../protocol/names.ts";
import type { Later } from "../../protocol/push.ts";
import type { SessionEntry } from "../../protocol/session.ts";
import { dialogOf, itemsOf } from "../attention.ts";
import { formatAge, formatAgo, formatTime } from "../format_time.ts";
import { type InboxItem, isOpen, type QuestionItem, questionLine } from "../inbox.ts";
import { isOwn, type Message, sentAgain } from "../message.ts";
import type { SendOptions } from "../own_messages.ts";
import { receiptText } from "../receipt_text.ts";
import { formatRoute } from "../route.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { findSession, type HostSession, screenTitle, sessionKey, type SessionName } from "../sessions.ts";
import { cancellationsOf, messagesOf, type PhoneState, relayNow } from "../state.ts";
import type { Snippet } from "../storage.ts";
import { STRINGS } from "../strings.ts";
import { TerminalStream } from "../terminal_stream.ts";
import type { MirrorOpener } from "../terminal_streams.ts";
import { uploadFile } from "../upload.ts";
import { type AskActions, AskCard } from "./ask_card.tsx";
import { Composer } from "./composer.tsx";
import { type DialogActions, DialogCard, NotificationCard } from "./inbox.tsx";
import { sentTexts, withInserted } from "./insert_sheet.tsx";
import { useKeptFocus } from "./kept_focus.ts";
import { type MessageActions, MessageList, ReceiptActions, type Shown } from "./message_list.tsx";
import { type SessionEnd, SessionEndCard, useSessionEnd } from "./session_end.tsx";
import { type MenuActions, SessionSheet } from "./session_menu.tsx";
import { Icon, SealSign, SessionLabel, StateChip, TONE_ICONS, useNow, useRead } from "./shared.tsx";
import { TerminalPanel } from "./terminal.tsx";
import { type FileUpload, useUpload } from "./upload_bar.tsx";
import type { OpenMirror } from "./use_terminal.ts";

const { session: TEXT } = STRINGS;
const { panels: PANELS, terminal: { foot: FOOT }, clocksDiffer: CLOCKS_DIFFER, blocked: BLOCKED } =
  SESSION_TEXT;
const AGES_EVERY_MS = 15_000;
/** The time left to answer is shown in minutes. */
const LEFT_EVERY_MS = 5_000;
/** How long the terminal view shows the receipt of a delivered message, and of one that was not. */
const GOOD_RECEIPT_MS = 60_000;
const BAD_RECEIPT_MS = 600_000;

export interface SessionActions extends MessageActions, AskActions, DialogActions, MenuActions {
  read(key: string): void;
  send(to: SessionName, body: string, options?: SendOptions): void;
  draft(to: SessionName, text: string): void;
  /** Returns the current draft, whatever view is shown. */
  draftOf(to: SessionName): string;
  readSnippets(): Promise<Snippet[]>;
  writeSnippets(snippets: readonly Snippet[]): Promise<void>;
  mirror: MirrorOpener;
}

type Panel = "terminal" | "messages";

interface Props {
  state: PhoneState;
  name: SessionName;
  panel: Panel;
  /** The push at which the messages open. */
  item?: string | undefined;
  /** The option of that question that a notification's button named. */
  option?: number | undefined;
  /** The link's notice. */
  notice: JSX.Element;
  actions: SessionActions;
}

export function SessionView({ state, name, panel, item, option, notice, actions }: Props): JSX.Element {
  const now = relayNow(state, useNow(AGES_EVERY_MS));
  const session = findSession(state.devices ?? [], name);
  const end = useSessionEnd(state, { name, session, now: relayNow(state, Date.now()) });
  const label = (session ?? end?.session)?.entry.label || name.session;
  const shown = shownMessages(state, { name, hostOnline: session?.online ?? false, now });
  const mode = state.paired.has(name.deviceId) ? "psk" : "off";
  // The opened item is shown above the messages.
  const items = itemsOf(state, name).filter(({ push }) => push.id !== item);
  useRead(sessionKey(name), { inbox: state.inbox, read: actions.read });
  const waiting = waitingOf({ state, name, panel, items, now, actions });
  const note = (
    <>
      <SessionNote {...{ state, session, now }} />
      {panel === "terminal" && waiting}
    </>
  );
  const field = useComposer({ state, name, session, label, mode, actions });
  // A draft can still be read and copied after the end.
  const composer = end === undefined || state.drafts[sessionKey(name)] ? field : null;
  const ended = end && <SessionEndCard {...{ name, end, now, panel }} />;
  return (
    <div class="page session" {...useKeptFocus()}>
      <SessionHead {...{ state, name, session, end, now, mode, panel, actions }} />
      {panel === "terminal"
        ? (
          <TerminalPanel
            name={name}
            label={label}
            isLinked={state.link.kind !== "down"}
            ended={ended}
            isRenamed={end?.renamed !== undefined}
            openMirror={(of, viewer) => actions.mirror(of, viewer, TerminalStream)}
            newest={newestReceipt(shown, { state, now, actions })}
            note={note}
            notice={notice}
            composer={composer}
          />
        )
        : (
          <>
            <div class="notice-anchor">{notice}</div>
            <OpenedItem {...{ state, item, option, actions }} />
            <MessageList {...{ shown, items, state, now, actions, waiting }} isOver={end !== undefined} />
            <section class="session-foot" aria-label={FOOT}>{note}{ended}{composer}</section>
          </>
        )}
    </div>
  );
}

interface ComposerSource extends Pick<Props, "state" | "name" | "actions"> {
  session: HostSession | undefined;
  label: string;
  mode: Sealing;
}

/** The field for messages. An upload continues when the panel or the view changes. */
function useComposer({ session, ...source }: ComposerSource): JSX.Element {
  const upload = useSessionUpload(source);
  const limit = session?.online ? session.entry.limit : undefined;
  return <SessionComposer {...source} {...{ agent: session?.entry.agent ?? "", limit, upload }} />;
}

/** Appends the path of a stored file to the draft, which may have changed meanwhile. */
function useSessionUpload({ name, actions }: Pick<Props, "name" | "actions">): FileUpload {
  return useUpload({
    session: sessionKey(name),
    send: (file, options) => {
      const open: OpenMirror = (of, viewer) => actions.mirror(of, viewer, TerminalStream);
      return uploadFile(file, { session: name, open, ...options });
    },
    onStored: (path) => {
      const text = /\s/.test(path) ? `"${path}"` : path;
      const draft = actions.draftOf(name);
      const { length } = draft;
      actions.draft(name, withInserted(draft, { text, start: length, end: length }).draft);
    },
  });
}

function shownMessages(
  state: PhoneState,
  { name, hostOnline, now }: { name: SessionName; hostOnline: boolean; now: number },
): Shown[] {
  const context = { live: state.link.kind === "live", hostOnline, now };
  const messages = messagesOf(state, name);
  const cancellations = cancellationsOf(state);
  const cancelled = cancelledByHost(state);
  const isPaired = state.paired.has(name.deviceId);
  const isForgeable = (message: Message): boolean => isPaired && !isOwn(message);
  const repeated = sentAgain(messages.filter((message) => !isForgeable(message)));
  const all = messages.map((message) => {
    const mayBeForged = isForgeable(message);
    const receipt = receiptText(message, {
      ...context,
      sentAgain: repeated.has(message.id),
      cancelling: cancellations.has(message.id),
      cancelledByHost: cancelled.has(message.id),
      mayBeForged,
    });
    return { message, receipt, mayBeForged };
  });
  // Scheduled messages come last.
  return [
    ...all.filter(({ receipt }) => !receipt.isScheduled),
    ...all.filter(({ receipt }) => receipt.isScheduled),
  ];
}

/** A pending or held receipt is shown until there is a newer one. One that may be forged must not hide it. */
function newestReceipt(
  shown: readonly Shown[],
  { state, now, actions }: { state: PhoneState; now: number; actions: SessionActions },
): JSX.Element | null {
  const isShown = ({ message, receipt, mayBeForged }: Shown): boolean =>
    !mayBeForged && (!receipt.isScheduled || now - message.createdAt <= GOOD_RECEIPT_MS);
  const newest = shown.filter(isShown).sort((a, b) => a.message.createdAt - b.message.createdAt).at(-1);
  const { message, receipt } = newest ?? {};
  if (message === undefined || receipt === undefined) return null;
  const isOpen = receipt.tone === "pending" || receipt.tone === "held";
  const shownMs = receipt.tone === "good" || receipt.tone === "off" ? GOOD_RECEIPT_MS : BAD_RECEIPT_MS;
  if (!isOpen && now - message.createdAt > shownMs) return null;
  const { tone, detail } = receipt;
  return (
    <div class="newest-receipt" data-tone={tone}>
      <p role="status">
        <Icon name={TONE_ICONS[tone]} />
        <span class="receipt-state">{receipt.state}</span>
        {detail !== "" && <span class="visually-hidden">.</span>}
        {detail !== "" && <span class="newest-detail">{detail}</span>}
      </p>
      <ReceiptActions {...{ message, receipt, actions }} clockOffsetMs={state.clockOffsetMs} />
    </div>
  );
}

interface SessionComposerProps extends Pick<Props, "state" | "name" | "actions"> {
  label: string;
  agent: string;
  mode: Sealing;
  limit: SessionEntry["limit"];
  upload: FileUpload;
}

function SessionComposer(
  { state, name, label, agent, mode, limit, upload, actions }: SessionComposerProps,
): JSX.Element {
  return (
    <Composer
      label={label}
      agent={agent}
      draft={state.drafts[sessionKey(name)] ?? ""}
      mode={mode}
      blocked={!isSessionName(name.session)}
      limit={limit}
      upload={upload}
      texts={{
        sent: () => sentTexts(state, name),
        mayHaveMore: state.history === "more",
        readOlder: actions.readOlder,
        readSnippets: actions.readSnippets,
        writeSnippets: actions.writeSnippets,
      }}
      onDraft={(text) => actions.draft(name, text)}
      onSend={(text, later) =>
        actions.send(
          name,
          text,
          later &&
            { later: laterByRelay(later, { ...state, isPaired: mode === "psk" }), resetsAt: limit?.resetsAt },
        )}
    />
  );
}

interface WaitingProps extends Pick<Props, "state" | "name" | "panel" | "actions"> {
  items: readonly InboxItem[];
  now: number;
}

/** The session's open dialog and questions. */
function waitingOf({ state, name, panel, items, now, actions }: WaitingProps): JSX.Element | undefined {
  const questions = items.filter((one) => one.kind === "question").filter(({ receipt }) => !receipt.final);
  const dialog = dialogOf(state, name, now);
  const card = dialog && <DialogCard place={panel} {...{ state, dialog, now, actions }} />;
  if (card === undefined && questions.length === 0) return undefined;
  if (panel === "terminal") {
    const open = questions.filter((one) => isOpen(one, now));
    return (
      <>
        {card && <ul class="session-card">{card}</ul>}
        {open.length > 0 && <QuestionsLink name={name} questions={open} />}
      </>
    );
  }
  return (
    <ul class="cards">
      {card}
      {questions.map((one) => <AskCard key={one.push.id} item={one} {...{ state, now, actions }} />)}
    </ul>
  );
}

/** A link to the questions among the messages: next to the terminal there is no room for them. */
function QuestionsLink(
  { name, questions }: { name: SessionName; questions: readonly QuestionItem[] },
): JSX.Element {
  const last = questions.at(-1);
  return (
    <div class="session-card">
      <a class="card question-link" href={formatRoute({ view: "session", ...name, panel: "messages" })}>
        <span class="label">{STRINGS.inbox.waiting(questions.length)}</span>
        <span class="question-first">{last && questionLine(last)}</span>
      </a>
    </div>
  );
}

/** A link to the other panel. Each panel has its own address, so that reload and Back work. */
function PanelLink({ name: { deviceId, session }, panel }: Pick<Props, "name" | "panel">): JSX.Element {
  const [other, more] = panel === "messages"
    ? ["terminal" as const, {}]
    : ["messages" as const, { panel: "messages" as const }];
  return (
    <a class="panel-link" href={formatRoute({ view: "session", deviceId, session, ...more })}>
      {PANELS[other]}
    </a>
  );
}

interface HeadProps extends Pick<Props, "state" | "actions"> {
  name: SessionName;
  session: HostSession | undefined;
  end: SessionEnd | undefined;
  now: number;
  /** How messages are encrypted. */
  mode: Sealing;
  panel: Panel;
}

function SessionHead({ state, name, session, end, now, mode, panel, actions }: HeadProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const named = session ?? end?.session;
  // Before painting: later, it would take the focus from a field that was tapped meanwhile.
  useLayoutEffect(() => heading.current?.focus(), [sessionKey(name)]);
  return (
    <header class="session-head">
      <a class="back" href={formatRoute({ view: "picker" })} aria-label={TEXT.back}>
        <Icon name="back" />
      </a>
      <div class="session-title">
        <h1 ref={heading} tabIndex={-1}>
          {named ? <SessionLabel session={named} /> : name.session}
        </h1>
        <p class="facts">
          {session && <StateChip session={session} now={now} />}
          {named && <span>{named.host}</span>}
        </p>
        {panel === "terminal" && session && <p class="screen-title">{screenTitle(session)}</p>}
      </div>
      <MenuButton key={sessionKey(name)} {...{ state, session, actions }} />
      <PanelLink name={name} panel={panel} />
      {panel === "messages" && end === undefined && (
        <p class="facts session-seal">
          <SealSign mode={mode} text={SESSION_TEXT.sealed.modes[mode]} />
        </p>
      )}
    </header>
  );
}

/** The sheet stays open when the session ends, to show that it has ended. */
function MenuButton({ state, session, actions }: Pick<HeadProps, "state" | "session" | "actions">) {
  const [opened, setOpened] = useState<HostSession>();
  const shown = opened && (session ?? opened);
  return (
    <>
      {session && (
        <button
          type="button"
          class="icon-link"
          aria-label={STRINGS.menu.open}
          onClick={() => setOpened(session)}
        >
          <Icon name="more" />
        </button>
      )}
      {shown && <SessionSheet {...{ state, actions }} session={shown} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function SessionNote({ state, session, now }: Pick<HeadProps, "state" | "session" | "now">) {
  const apartMs = Math.abs(state.clockOffsetMs);
  const why = noteOf(session, now) || (apartMs > SKEW_MS ? CLOCKS_DIFFER(formatAge(apartMs)) : "");
  return why === "" ? null : <p class="session-note">{why}</p>;
}

/** Why a message cannot be delivered right now; empty if it can. */
function noteOf(session: HostSession | undefined, now: number): string {
  if (session === undefined) return "";
  if (!session.online) return BLOCKED.hostOffline(session.host, formatAgo(now - session.lastSeen));
  const { addressable, limit, muted, state, stateSince } = session.entry;
  if (state === "exited") return BLOCKED.exited(formatTime(stateSince, now));
  if (muted) return TEXT.muted;
  if (!addressable) return BLOCKED.notAddressable;
  if (limit === undefined) return "";
  return limit.resetsAt === undefined ? TEXT.limited : TEXT.limitedUntil(formatTime(limit.resetsAt, now));
}

interface OpenedProps {
  state: PhoneState;
  item: string | undefined;
  /** The option of the opened question that a notification's button named. */
  option: number | undefined;
  actions: AskActions;
}

/** The item that a tapped notification opened, above the session's messages. */
function OpenedItem({ state, item: id, option, actions }: OpenedProps): JSX.Element | null {
  const now = relayNow(state, useNow(LEFT_EVERY_MS));
  const item = id === undefined ? undefined : state.inbox.get(id);
  if (item === undefined) return null;
  return (
    <section class="opened-item" aria-label={STRINGS.inbox.heading}>
      <ul>
        {item.kind === "question"
          ? <AskCard key={`${id}/${option ?? ""}`} {...{ state, item, now, actions, option }} />
          : <NotificationCard {...{ state, item, now }} />}
      </ul>
    </section>
  );
}

/**
 * Converts the time to the relay's clock. For a paired host, a relay that lies about it shifts it by `SKEW_MS` at most.
 */
export function laterByRelay(
  later: Later,
  { clockOffsetMs, isPaired }: { clockOffsetMs: number; isPaired: boolean },
): Later {
  if (later.kind !== "at") return later;
  const limitMs = isPaired ? SKEW_MS : Infinity;
  return { kind: "at", at: Math.round(later.at + Math.min(limitMs, Math.max(-limitMs, clockOffsetMs))) };
}

/** The ids of the messages whose cancellation their host has accepted: they will not be typed. */
export function cancelledByHost({ messages }: Pick<PhoneState, "messages">): ReadonlySet<string> {
  const taken = [...messages.values()].filter(({ progress }) =>
    progress.kind === "taken" && progress.receipt.state === "submitted" && progress.unproven === undefined
  );
  return new Set(taken.flatMap(({ cancels }) => cancels ?? []));
}
