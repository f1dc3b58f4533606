/** One question: who asks, what, and how it stands. */
import type { JSX } from "preact";
import type { Answer } from "../../protocol/ask.ts";
import { ageWords, momentWords } from "../ages.ts";
import type { QuestionItem } from "../inbox.ts";
import type { Message } from "../message.ts";
import { answerDraftKey } from "../names.ts";
import { type QuestionStatus, questionStatus } from "../question_status.ts";
import { receiptWords } from "../receipt_words.ts";
import type { PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { AskForm } from "./ask_form.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { PushSession } from "./push_session.tsx";
import { PlainSign } from "./seal_sign.tsx";

const { question: WORDS, receipt: RECEIPT } = STRINGS;
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
  /** By the relay's clock. */
  now: number;
  actions: AskActions;
}

export function AskCard({ state, item, now, actions }: Props): JSX.Element {
  const { push } = item;
  const status = questionStatus(state, item, now);
  return (
    <li class="card question" data-status={status.kind} data-id={push.id}>
      <div class="card-head">
        <PushSession state={state} push={push} />
        <Standing status={status} now={now} asked={push.createdAt} />
      </div>
      <PlainSign state={state} push={push} />
      <p class="question-text" id={`question-${push.id}`}>{push.body}</p>
      <Body {...{ state, item, status, now, actions }} />
    </li>
  );
}

/** How long the agent waits, or when it asked. */
function Standing(
  { status, now, asked }: { status: QuestionStatus; now: number; asked: number },
): JSX.Element {
  if (status.kind !== "open") {
    return <time class="card-time" dateTime={new Date(asked).toISOString()}>{momentWords(asked, now)}</time>;
  }
  if (status.late) return <span class="chip" data-state="offline">{WORDS.late}</span>;
  const left = status.deadline - now;
  return (
    <span class="chip" data-state="waiting">
      {left < MINUTE_MS ? WORDS.leftSoon : WORDS.left(ageWords(left))}
    </span>
  );
}

function Body({ state, item, status, now, actions }: Props & { status: QuestionStatus }): JSX.Element {
  const { push, ask } = item;
  switch (status.kind) {
    case "open":
      return (
        <>
          {status.late && <p class="late-hint">{WORDS.lateHint}</p>}
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
        <Given label={WORDS.yours} text={status.message.body} icon="clock" tone="pending">
          {state.link.kind === "live" ? WORDS.sending : WORDS.waitingForLink}
        </Given>
      );
    case "failed":
      return <Failed message={status.message} actions={actions} />;
    case "answered":
      return <Answered status={status} state={state} now={now} />;
    case "closed":
      return <Standstill icon="cross" tone="pending">{WORDS.closed[status.why]}</Standstill>;
  }
}

function Failed({ message, actions }: { message: Message; actions: AskActions }): JSX.Element {
  const failure = message.progress.kind === "failed" ? message.progress.failure : undefined;
  const why = failure && (RECEIPT.failures[failure.code] ?? failure.message);
  return (
    <Given label={WORDS.yours} text={message.body} icon="cross" tone="bad">
      {WORDS.notSent}: {why}
      <span class="bubble-actions">
        <button type="button" class="quiet" onClick={() => actions.discard(message.id)}>
          {WORDS.takeBack}
        </button>
        <button type="button" class="secondary" onClick={() => actions.resend(message)}>
          {WORDS.tryAgain}
        </button>
      </span>
    </Given>
  );
}

interface AnsweredProps {
  status: Extract<QuestionStatus, { kind: "answered" }>;
  state: PhoneState;
  now: number;
}

function Answered({ status, state, now }: AnsweredProps): JSX.Element {
  const { answer, typed, way, here } = status;
  if (answer === undefined) return <Standstill icon="clock" tone="pending">{WORDS.reading}</Standstill>;
  const circumstances = { live: state.link.kind === "live", hostOnline: true, sentAgain: true, now };
  const words = typed && receiptWords(typed, circumstances);
  return (
    <Given
      label={here ? WORDS.yours : WORDS.anothers}
      text={answer.sealed === "elsewhere" ? STRINGS.sealing.elsewhere : answer.body}
      icon={way === "lost" ? "cross" : way === "under_way" ? "clock" : "check"}
      tone={way === "lost" ? "bad" : way === "under_way" ? "pending" : "good"}
    >
      {WORDS.ways[way]}
      {words && (
        <span class="typed-state">{WORDS.typedState(words.state)}{words.detail && `. ${words.detail}`}</span>
      )}
    </Given>
  );
}

interface StandstillProps {
  icon: IconName;
  tone: "pending" | "good" | "bad";
  children: JSX.Element | string | (JSX.Element | string | undefined)[];
}

/** An answer that was given, and what became of it. */
function Given({ label, text, ...standing }: StandstillProps & { label: string; text: string }): JSX.Element {
  return (
    <>
      <p class="given">
        <span class="given-label">{label}</span>
        {text}
      </p>
      <Standstill {...standing} />
    </>
  );
}

function Standstill({ icon, tone, children }: StandstillProps): JSX.Element {
  return (
    <p class="standing" data-tone={tone}>
      <Icon name={icon} />
      <span>{children}</span>
    </p>
  );
}
