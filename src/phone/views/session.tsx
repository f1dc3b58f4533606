/** One session: its state, its terminal or its messages, and the field for the next message. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import { isSessionName } from "../../protocol/names.ts";
import { formatAgo } from "../format_time.ts";
import type { Message } from "../message.ts";
import { type ReceiptText, receiptText } from "../receipt_text.ts";
import { formatRoute } from "../route.ts";
import { findSession, type HostSession, screenTitle, sessionKey, type SessionName } from "../sessions.ts";
import { isSentAgain, messagesOf, type PhoneState, relayNow } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { Composer } from "./composer.tsx";
import type { AskActions } from "./ask_card.tsx";
import { type MessageActions, MessageList } from "./message_list.tsx";
import { OpenedItem } from "./opened_item.tsx";
import { Icon, SealSign, SessionLabel, StateChip, useNow } from "./shared.tsx";
import { TerminalPanel } from "./terminal.tsx";
import type { OpenMirror } from "./use_terminal.ts";

const { session: TEXT, panels: PANELS } = STRINGS;
const AGES_EVERY_MS = 15_000;
/** How long the terminal view shows the receipt of a delivered message, and of one that was not. */
const GOOD_RECEIPT_MS = 60_000;
const BAD_RECEIPT_MS = 600_000;

export interface SessionActions extends MessageActions, AskActions {
  send(to: SessionName, body: string): void;
  draft(to: SessionName, text: string): void;
  mirror: OpenMirror;
}

type Panel = "terminal" | "messages";

interface Props {
  state: PhoneState;
  name: SessionName;
  panel: Panel;
  /** The push at which the messages open. */
  item?: string | undefined;
  /** The link's notice. */
  notice: JSX.Element;
  actions: SessionActions;
}

export function SessionView({ state, name, panel, item, notice, actions }: Props): JSX.Element {
  const now = relayNow(state, useNow(AGES_EVERY_MS));
  const session = findSession(state.devices ?? [], name);
  const label = session?.entry.label || name.session;
  const shown = shownMessages(state, { name, hostOnline: session?.online ?? false, now });
  const mode = state.paired.has(name.deviceId) ? "psk" : "off";
  const why = noteOf(state, session, now);
  const note = why === "" ? null : <p class="session-note">{why}</p>;
  const composer = <SessionComposer {...{ state, name, label, mode, actions }} />;
  return (
    <div class="page session">
      <SessionHead name={name} session={session} now={now} mode={mode} panel={panel} />
      {panel === "terminal"
        ? (
          <TerminalPanel
            name={name}
            label={label}
            isLinked={state.link.kind !== "down"}
            openMirror={actions.mirror}
            newest={newestReceipt(shown, now)}
            note={note}
            notice={notice}
            composer={composer}
          />
        )
        : (
          <>
            <div class="notice-anchor">{notice}</div>
            <OpenedItem state={state} item={item} actions={actions} />
            <MessageList
              shown={shown}
              history={state.history}
              now={now}
              clockOffsetMs={state.clockOffsetMs}
              actions={actions}
            />
            <div class="session-foot">{note}{composer}</div>
          </>
        )}
    </div>
  );
}

interface Shown {
  message: Message;
  receipt: ReceiptText;
}

function shownMessages(
  state: PhoneState,
  { name, hostOnline, now }: { name: SessionName; hostOnline: boolean; now: number },
): Shown[] {
  const context = { live: state.link.kind === "live", hostOnline, now };
  const messages = messagesOf(state, name);
  return messages.map((message) => ({
    message,
    receipt: receiptText(message, { ...context, sentAgain: isSentAgain(message, messages) }),
  }));
}

/** A pending or held receipt is shown until there is a newer one. */
function newestReceipt(shown: readonly Shown[], now: number): ReceiptText | undefined {
  const { message, receipt } = shown.at(-1) ?? {};
  if (message === undefined || receipt?.tone === "pending" || receipt?.tone === "held") return receipt;
  const shownMs = receipt?.tone === "good" ? GOOD_RECEIPT_MS : BAD_RECEIPT_MS;
  return now - message.createdAt > shownMs ? undefined : receipt;
}

interface SessionComposerProps extends Pick<Props, "state" | "name" | "actions"> {
  label: string;
  mode: Sealing;
}

function SessionComposer({ state, name, label, mode, actions }: SessionComposerProps): JSX.Element {
  return (
    <Composer
      label={label}
      draft={state.drafts[sessionKey(name)] ?? ""}
      mode={mode}
      blocked={!isSessionName(name.session)}
      onDraft={(text) => actions.draft(name, text)}
      onSend={(text) => actions.send(name, text)}
    />
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

interface HeadProps {
  name: SessionName;
  session: HostSession | undefined;
  now: number;
  /** How messages are encrypted. */
  mode: Sealing;
  panel: Panel;
}

function SessionHead({ name, session, now, mode, panel }: HeadProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [sessionKey(name)]);
  return (
    <header class="session-head">
      <a class="back" href={formatRoute({ view: "picker" })} aria-label={TEXT.back}>
        <Icon name="back" />
      </a>
      <div class="session-title">
        <h1 ref={heading} tabIndex={-1}>
          {session ? <SessionLabel session={session} /> : name.session}
        </h1>
        <p class="facts">
          {session && <StateChip session={session} now={now} />}
          {session && <span>{session.host}</span>}
        </p>
        {panel === "messages" && (
          <p class="facts">
            <SealSign mode={mode} />
          </p>
        )}
        {panel === "terminal" && session && <p class="screen-title">{screenTitle(session)}</p>}
      </div>
      <PanelLink name={name} panel={panel} />
    </header>
  );
}

/** Why a message cannot be delivered right now; empty if it can. */
function noteOf(state: PhoneState, session: HostSession | undefined, now: number): string {
  if (state.devices === undefined) return "";
  if (session === undefined) return TEXT.gone;
  if (!session.online) return TEXT.hostOffline(session.host, formatAgo(now - session.lastSeen));
  return session.entry.addressable ? "" : TEXT.notAddressable;
}
