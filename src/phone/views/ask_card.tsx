/** One question: who asks, what, and its status. */
import type { JSX } from "preact";
import type { Answer } from "../../protocol/ask.ts";
import { formatAge, formatTime } from "../format_time.ts";
import { type QuestionItem, type QuestionStatus, questionStatus } from "../inbox.ts";
import type { Message } from "../message.ts";
import { failureDetail, receiptText } from "../receipt_text.ts";
import { answerDraftKey, type PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { AskForm } from "./ask_form.tsx";
import { Icon, type IconName, PlainSign, SourceSession } from "./shared.tsx";

const { question: TEXT } = STRINGS;
const MINUTE_MS = 60_000;

export interface AskActions {
  answer(question: string, answer: Answer): void;
  draftAnswer(question: string, text: string): void;
  resend(message: Message): void;
  discard(id: string): void;
}

interface Props {
  state: PhoneState;
  item: QuestionItem;
  /** The relay's clock. */
  now: number;
  actions: AskActions;
}

export function AskCard({ state, item, now, actions }: Props): JSX.Element {
  const { push } = item;
  const status = questionStatus(item, { messages: state.messages, now });
  return (
    <li class="card question" data-status={status.kind} data-id={push.id}>
      <div class="card-head">
        <SourceSession state={state} push={push} />
        <TimeLeft status={status} now={now} asked={push.createdAt} />
      </div>
      <PlainSign state={state} push={push} />
      <p class="question-text" id={`question-${push.id}`}>{push.body}</p>
      <Body {...{ state, item, status, now, actions }} />
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

function Body({ state, item, status, now, actions }: Props & { status: QuestionStatus }): JSX.Element {
  const { push, ask } = item;
  switch (status.kind) {
    case "open":
      return (
        <>
          {status.late && <p class="late-hint">{TEXT.lateHint}</p>}
          <AskForm
            id={push.id}
            ask={ask}
            draft={state.drafts[answerDraftKey(push.id)] ?? ""}
            onDraft={(text) => actions.draftAnswer(push.id, text)}
            onAnswer={(answer) => actions.answer(push.id, answer)}
          />
        </>
      );
    case "sending":
      return (
        <AnswerGiven label={TEXT.yours} text={status.message.body} icon="clock" tone="pending">
          {state.link.kind === "live" ? TEXT.sending : TEXT.waitingForLink}
        </AnswerGiven>
      );
    case "failed":
      return <Failed message={status.message} actions={actions} />;
    case "answered":
      return <Answered status={status} state={state} now={now} />;
    case "closed":
      return <StatusLine icon="cross" tone="pending">{TEXT.closed[status.why]}</StatusLine>;
  }
}

function Failed({ message, actions }: { message: Message; actions: AskActions }): JSX.Element {
  const failure = message.progress.kind === "failed" ? message.progress.failure : undefined;
  const why = failure && failureDetail(failure);
  return (
    <AnswerGiven label={TEXT.yours} text={message.body} icon="cross" tone="bad">
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

interface AnsweredProps {
  status: Extract<QuestionStatus, { kind: "answered" }>;
  state: PhoneState;
  now: number;
}

function Answered({ status, state, now }: AnsweredProps): JSX.Element {
  const { answer, typed, outcome, here } = status;
  if (answer === undefined) return <StatusLine icon="clock" tone="pending">{TEXT.reading}</StatusLine>;
  const context = { live: state.link.kind === "live", hostOnline: true, sentAgain: true, now };
  const receipt = typed && receiptText(typed, context);
  return (
    <AnswerGiven
      label={here ? TEXT.yours : TEXT.anothers}
      text={answer.sealed === "elsewhere" ? STRINGS.sealing.elsewhere : answer.body}
      icon={outcome === "lost" ? "cross" : outcome === "pending" ? "clock" : "check"}
      tone={outcome === "lost" ? "bad" : outcome === "pending" ? "pending" : "good"}
    >
      {TEXT.outcomes[outcome]}
      {receipt && (
        <span class="typed-state">
          {TEXT.typedState(receipt.state)}
          {receipt.detail && `. ${receipt.detail}`}
        </span>
      )}
    </AnswerGiven>
  );
}

interface StatusLineProps {
  icon: IconName;
  tone: "pending" | "good" | "bad";
  children: JSX.Element | string | (JSX.Element | string | undefined)[];
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
