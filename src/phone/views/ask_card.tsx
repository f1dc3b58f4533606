/** One question: who asks, what, and its status. */
import type { JSX } from "preact";
import { type Answer, type Asked, type CardData, isCard } from "../../protocol/ask.ts";
import type { Push } from "../../protocol/push.ts";
import { sessionNameOf } from "../attention.ts";
import { formatAge, formatTime } from "../format_time.ts";
import {
  type AnswerOutcome,
  type CardOutcome,
  type QuestionItem,
  type QuestionStatus,
  questionStatus,
} from "../inbox.ts";
import { type Message, waitsForLink } from "../message.ts";
import { reasonDetail, receiptText, type Tone } from "../receipt_text.ts";
import { failureDetail } from "../requests.ts";
import { findSession } from "../sessions.ts";
import { answerDraftKey, type PhoneState } from "../state.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { STRINGS } from "../strings.ts";
import type { MirrorOpener } from "../terminal_streams.ts";
import { ApprovalForm, ClosedRequest } from "./approval_form.tsx";
import { AskForm, tickedIn } from "./ask_form.tsx";
import { CARDS, givenText } from "./card_parts.tsx";
import { LongApproval } from "./long_request.tsx";
import { Markdown } from "./markdown.tsx";
import { QuestionsForm } from "./questions_form.tsx";
import { Icon, type IconName, PlainSign, SourceSession, TONE_ICONS } from "./shared.tsx";

const { question: TEXT } = STRINGS;
const { ask: ASK } = SESSION_TEXT;
const MINUTE_MS = 60_000;

export interface AskActions {
  answer(question: string, answer: Answer): void;
  draftAnswer(question: string, text: string): void;
  resend(message: Message): void;
  discard(id: string): void;
  mirror: MirrorOpener;
}

interface Props {
  state: PhoneState;
  item: QuestionItem;
  /** The relay's clock. */
  now: number;
  actions: AskActions;
  /** The option that a notification's button named. */
  option?: number | undefined;
}

export function AskCard({ state, item, now, actions, option }: Props): JSX.Element {
  const { push, ask } = item;
  const status = questionStatus(item, { messages: state.messages, now });
  return (
    <li class="card question" data-status={status.kind} data-id={push.id}>
      <div class="card-head">
        <SourceSession state={state} push={push} />
        <TimeLeft status={status} now={now} asked={push.createdAt} />
      </div>
      <PlainSign state={state} push={push} />
      {!isCard(ask) && (
        <div class="question-text" id={`question-${push.id}`}>
          <Markdown text={push.body ?? ""} />
        </div>
      )}
      {isCard(ask) && status.kind !== "open" && <ClosedCard push={push} card={ask} />}
      <Body {...{ state, item, status, now, actions, option }} />
    </li>
  );
}

/** How long the agent will wait, or when it asked. */
function TimeLeft(
  { status, now, asked }: { status: QuestionStatus; now: number; asked: number },
): JSX.Element {
  if (status.kind !== "open") {
    return <time class="card-time" dateTime={new Date(asked).toISOString()}>{formatTime(asked, now)}</time>;
  }
  if (status.late) return <span class="chip" data-state="offline">{TEXT.late}</span>;
  const left = status.deadline - now;
  return (
    <span class="chip" data-state="waiting">
      {left < MINUTE_MS ? TEXT.leftSoon : TEXT.left(formatAge(left))}
    </span>
  );
}

/** True if the session of a question is no longer listed although its host is online: it has ended, or was renamed. */
function isGone({ state, item: { push } }: Pick<Props, "state" | "item">): boolean {
  const name = sessionNameOf(push, state);
  const host = state.devices?.find(({ deviceId }) => deviceId === name?.deviceId);
  return name !== undefined && host?.online === true && findSession([host], name) === undefined;
}

function Body(props: Props & { status: QuestionStatus }): JSX.Element {
  const { state, item, status, now, actions } = props;
  switch (status.kind) {
    case "open":
      return (
        <>
          {status.late && <p class="late-hint">{isGone(props) ? ASK.sessionGone : TEXT.lateHint}</p>}
          <Controls {...props} />
        </>
      );
    case "sending":
      return (
        <AnswerGiven
          label={TEXT.yours}
          text={givenText(item.ask, status.message.body)}
          icon="clock"
          tone="pending"
        >
          {waitsForLink(status.message, state.link.kind === "live") ? TEXT.waitingForLink : TEXT.sending}
        </AnswerGiven>
      );
    case "failed":
      return <Failed message={status.message} ask={item.ask} actions={actions} />;
    case "answered":
      return (
        <>
          <Answered {...{ status, item, state, now }} />
          <Unsent text={unsentText(status, props)} why={STRINGS.receipt.failures.ask_closed} />
        </>
      );
    case "closed": {
      const { closed } = isCard(item.ask) ? CARDS : TEXT;
      return (
        <>
          <StatusLine icon="cross" tone="pending">{closed[status.why]}</StatusLine>
          <Unsent text={unsentText(status, props)} />
        </>
      );
    }
  }
}

/** Returns the answer from here that was not accepted. After a reload, a text answer is in the draft. */
export function unsentText(
  { unsent, here }: { unsent?: Message; here?: boolean },
  { item: { push, ask }, state }: { item: QuestionItem; state: Pick<PhoneState, "drafts"> },
): string {
  if (unsent !== undefined) return givenText(ask, unsent.body);
  if (here || isCard(ask) || ask.kind === "input") return "";
  return tickedIn([], state.drafts[answerDraftKey(push.id)] ?? "").text;
}

function Unsent({ text, why }: { text: string; why?: string }): JSX.Element | null {
  if (text === "") return null;
  return (
    <AnswerGiven label={TEXT.yours} text={text} icon="cross" tone="bad">
      {[TEXT.notSent, why].filter(Boolean).join(": ")}
    </AnswerGiven>
  );
}

function Controls({ state, item: { push, ask }, actions, option }: Props): JSX.Element {
  const common = {
    draft: state.drafts[answerDraftKey(push.id)] ?? "",
    onDraft: (text: string) => actions.draftAnswer(push.id, text),
    onAnswer: (answer: Answer) => actions.answer(push.id, answer),
  };
  return isCard(ask)
    ? <OpenCard push={push} card={ask} preselected={option} openMirror={actions.mirror} {...common} />
    : <AskForm id={push.id} ask={ask} {...common} />;
}

interface OpenCardProps {
  push: Push;
  card: CardData;
  draft: string;
  preselected: number | undefined;
  openMirror: MirrorOpener;
  onDraft(text: string): void;
  onAnswer(answer: Answer): void;
}

function OpenCard({ push, card, preselected, openMirror, ...common }: OpenCardProps): JSX.Element {
  const { id, body: request = "" } = push;
  if (card.kind === "questions") return <QuestionsForm {...{ id, card, preselected }} {...common} />;
  const { whole } = card;
  return whole === undefined
    ? <ApprovalForm {...{ id, card, request }} {...common} />
    : <LongApproval {...{ push, openMirror }} card={{ ...card, whole }} {...common} />;
}

function ClosedCard({ push, card }: { push: Push; card: CardData }): JSX.Element {
  return card.kind === "approval"
    ? <ClosedRequest card={card} request={push.body ?? ""} />
    : <p class="question-text">{card.questions.map(({ text }) => text).join("\n\n")}</p>;
}

function Failed(
  { message, ask, actions }: { message: Message; ask: Asked; actions: AskActions },
): JSX.Element {
  const failure = message.progress.kind === "failed" ? message.progress.failure : undefined;
  const why = failure && failureDetail(failure);
  return (
    <AnswerGiven label={TEXT.yours} text={givenText(ask, message.body)} icon="cross" tone="bad">
      {TEXT.notSent}: {why}
      <span class="bubble-actions">
        <button type="button" class="quiet" onClick={() => actions.discard(message.id)}>
          {TEXT.takeBack}
        </button>
        <button type="button" class="secondary" onClick={() => actions.resend(message)}>
          {TEXT.tryAgain}
        </button>
      </span>
    </AnswerGiven>
  );
}

interface AnsweredProps extends Pick<Props, "state" | "item" | "now"> {
  status: Extract<QuestionStatus, { kind: "answered" }>;
}

const TONES: Record<Exclude<AnswerOutcome, "typed"> | CardOutcome, Tone> = {
  pending: "pending",
  on_host: "pending",
  received: "good",
  applied: "good",
  lost: "bad",
  gone: "bad",
  refused: "bad",
  not_taken: "bad",
  unclear: "unsure",
  unproven: "unsure",
};

/** The tone of an answer's status. A late answer has the tone of the message that it became. */
export function answeredTone(outcome: AnswerOutcome | CardOutcome, message: Tone | undefined): Tone {
  return outcome === "typed" ? message ?? "pending" : TONES[outcome];
}

function Answered({ status, item, state, now }: AnsweredProps): JSX.Element {
  const { answer, typed, outcome, here } = status;
  if (answer === undefined) return <StatusLine icon="clock" tone="pending">{TEXT.reading}</StatusLine>;
  if (answer.sealed === "elsewhere" && outcome !== "typed") {
    return <StatusLine icon={TONE_ICONS.unsure} tone="unsure">{ASK.elsewhere}</StatusLine>;
  }
  const context = { live: state.link.kind === "live", hostOnline: true, sentAgain: true, now };
  const receipt = typed && receiptText(typed, context);
  const tone = answeredTone(outcome, receipt?.tone);
  const { anothers } = isCard(item.ask) ? CARDS : TEXT;
  return (
    <AnswerGiven
      label={here ? TEXT.yours : anothers}
      text={answer.sealed === "elsewhere" ? SESSION_TEXT.sealed.elsewhere : givenText(item.ask, answer.body)}
      icon={TONE_ICONS[tone]}
      tone={tone}
    >
      {{ ...CARDS.outcomes, ...TEXT.outcomes }[outcome]}
      {outcome === "refused" && `: ${whyRefused(answer)}`}
      {receipt && (
        <span class="typed-state">
          {TEXT.typedState(receipt.state)}
          {receipt.detail && `. ${receipt.detail}`}
        </span>
      )}
    </AnswerGiven>
  );
}

function whyRefused({ progress }: Message): string {
  return progress.kind === "taken" ? reasonDetail(progress.receipt) : "";
}

interface StatusLineProps {
  icon: IconName;
  tone: Tone;
  children: JSX.Element | string | (JSX.Element | string | false | undefined)[];
}

/** An answer and how far it got. */
function AnswerGiven(
  { label, text, ...standing }: StatusLineProps & { label: string; text: string },
): JSX.Element {
  return (
    <>
      <p class="given">
        <span class="given-label">{label}</span>
        {text}
      </p>
      <StatusLine {...standing} />
    </>
  );
}

function StatusLine({ icon, tone, children }: StatusLineProps): JSX.Element {
  return (
    <p class="standing" data-tone={tone}>
      <Icon name={icon} />
      <span>{children}</span>
    </p>
  );
}
