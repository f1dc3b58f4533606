/** One session: what it is doing, what was sent to it, and the field for the next message. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import { isSessionName } from "../../protocol/names.ts";
import { agoWords } from "../ages.ts";
import type { Message } from "../message.ts";
import { draftKey, type SessionName } from "../names.ts";
import { type ReceiptWords, receiptWords } from "../receipt_words.ts";
import { formatRoute } from "../route.ts";
import { isSentAgain, messagesOf, relayNow } from "../selectors.ts";
import { findSession, type PickedSession, screenTitle } from "../sessions.ts";
import type { PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { Composer } from "./composer.tsx";
import { Icon } from "./icons.tsx";
import { MessageList } from "./message_list.tsx";
import { SealSign } from "./seal_sign.tsx";
import { SessionLabel } from "./session_card.tsx";
import { StateChip } from "./state_chip.tsx";
import { TerminalPanel } from "./terminal.tsx";
import { useNow } from "./use_now.ts";
import type { OpenMirror } from "./use_terminal.ts";

const { session: WORDS, panels: PANELS } = STRINGS;
const AGES_EVERY_MS = 15_000;
/** How long the terminal's foot shows what became of a message: that it went in, and that it did not. */
const GOOD_NEWS_MS = 60_000;
const BAD_NEWS_MS = 600_000;

export interface SessionActions {
  send(to: SessionName, body: string): void;
  resend(message: Message): void;
  discard(id: string): void;
  draft(to: SessionName, text: string): void;
  mirror: OpenMirror;
  readOlder(): void;
}

type Panel = "terminal" | "messages";

interface Props {
  state: PhoneState;
  name: SessionName;
  panel: Panel;
  /** What is to be said about the link. */
  notice: JSX.Element;
  actions: SessionActions;
}

export function SessionView({ state, name, panel, notice, actions }: Props): JSX.Element {
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
            newest={newestWords(shown, now)}
            note={note}
            notice={notice}
            composer={composer}
          />
        )
        : (
          <>
            <div class="notice-anchor">{notice}</div>
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
  words: ReceiptWords;
}

function shownMessages(
  state: PhoneState,
  { name, hostOnline, now }: { name: SessionName; hostOnline: boolean; now: number },
): Shown[] {
  const circumstances = { live: state.link.kind === "live", hostOnline, now };
  const messages = messagesOf(state, name);
  return messages.map((message) => ({
    message,
    words: receiptWords(message, { ...circumstances, sentAgain: isSentAgain(message, messages) }),
  }));
}

/** News of what waits or is under way stay until there are others. */
function newestWords(shown: readonly Shown[], now: number): ReceiptWords | undefined {
  const { message, words } = shown.at(-1) ?? {};
  if (message === undefined || words?.tone === "pending" || words?.tone === "held") return words;
  const newsMs = words?.tone === "good" ? GOOD_NEWS_MS : BAD_NEWS_MS;
  return now - message.createdAt > newsMs ? undefined : words;
}

interface SessionComposerProps extends Pick<Props, "state" | "name" | "actions"> {
  label: string;
  mode: Sealing;
}

function SessionComposer({ state, name, label, mode, actions }: SessionComposerProps): JSX.Element {
  return (
    <Composer
      label={label}
      draft={state.drafts[draftKey(name)] ?? ""}
      mode={mode}
      blocked={!isSessionName(name.session)}
      onDraft={(text) => actions.draft(name, text)}
      onSend={(text) => actions.send(name, text)}
    />
  );
}

/** To the panel that is not shown. Each has an address of its own: a reload, and the way back, lead to it. */
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
  session: PickedSession | undefined;
  now: number;
  /** How messages go out. */
  mode: Sealing;
  /** What is shown below. */
  panel: Panel;
}

function SessionHead({ name, session, now, mode, panel }: HeadProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [draftKey(name)]);
  return (
    <header class="session-head">
      <a class="back" href={formatRoute({ view: "picker" })} aria-label={WORDS.back}>
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

/** What stands in the way of a message; empty when nothing does. */
function noteOf(state: PhoneState, session: PickedSession | undefined, now: number): string {
  if (state.devices === undefined) return "";
  if (session === undefined) return WORDS.gone;
  if (!session.online) return WORDS.hostOffline(session.host, agoWords(now - session.lastSeen));
  return session.entry.addressable ? "" : WORDS.notAddressable;
}
