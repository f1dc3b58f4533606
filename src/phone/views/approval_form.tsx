/** A request for permission: its text, what is unusual about it, and the decisions that can be made here. */
import type { JSX } from "preact";
import type { Answer, CardData, Decision } from "../../protocol/ask.ts";
import { checkBody } from "../check_input.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { STRINGS } from "../strings.ts";
import { CardButtons, CARDS, marked, RequestText, type Settled, useReading } from "./card_parts.tsx";
import { Icon } from "./shared.tsx";

const { question: QUESTION } = STRINGS;
const { faults: FAULTS } = SESSION_TEXT.form;

export type ApprovalCard = Extract<CardData, { kind: "approval" }>;

interface RequestProps {
  card: ApprovalCard;
  request: string;
}

interface Props extends RequestProps {
  /** The push's id. */
  id: string;
  /** The reason for a rejection. */
  draft: string;
  onDraft(text: string): void;
  onAnswer(answer: Answer): void;
}

export function ApprovalForm({ request, ...props }: Props): JSX.Element {
  const reading = useReading();
  return (
    <Decisions {...props} isRead={reading.isRead} hint={CARDS.readFirst}>
      <RequestText text={request} reading={reading} />
    </Decisions>
  );
}

interface DecisionsProps extends Omit<Props, "request"> {
  /** The user has gone through the whole request. */
  isRead: boolean;
  /** What to do until then. */
  hint: string;
  /** The request. */
  children: JSX.Element;
}

/** A request's facts and text, and the buttons for the possible decisions. */
export function Decisions({ children, hint, ...props }: DecisionsProps): JSX.Element {
  const { id, card, draft, onDraft, isRead } = props;
  const isReadFirst = !isRead && allowing(card).length > 0;
  return (
    <>
      <RequestFacts card={card} />
      {children}
      <Limits card={card} />
      {isReadFirst && <p class="standing" id={`read-${id}`}>{hint}</p>}
      <CardButtons>
        {(settled) => (
          <>
            <AllowButtons {...props} {...settled} />
            {card.decisions.includes("reject") && (
              <>
                <Reason id={`reason-${id}`} text={draft} onText={onDraft} />
                <RejectButton {...props} {...settled} />
              </>
            )}
          </>
        )}
      </CardButtons>
    </>
  );
}

function allowing({ decisions }: ApprovalCard): Decision[] {
  return decisions.filter((decision) => decision !== "reject");
}

type ButtonProps = Omit<Props, "request"> & Pick<Settled, "isSettled" | "act">;

function AllowButtons(
  { id, card, onAnswer, isRead, isSettled, act }: ButtonProps & { isRead: boolean },
): JSX.Element {
  return (
    <>
      {allowing(card).map((decision) => (
        <button
          key={decision}
          type="button"
          class={decision === "once" ? "primary" : "secondary"}
          disabled={!isRead}
          aria-disabled={!isSettled}
          aria-describedby={isRead ? undefined : `read-${id}`}
          onClick={() => act(() => onAnswer({ kind: "decided", decision, digest: card.digest }))}
        >
          {CARDS.decisions[decision]}
        </button>
      ))}
    </>
  );
}

function RejectButton({ card, draft, onAnswer, isSettled, act }: ButtonProps): JSX.Element {
  const hasReason = draft.trim() !== "";
  const { digest } = card;
  const reject = (): void =>
    onAnswer({ kind: "decided", decision: "reject", digest, ...(hasReason ? { reason: draft } : {}) });
  return (
    <button
      type="button"
      class="secondary reject"
      disabled={hasReason && !checkBody(draft).sendable}
      aria-disabled={!isSettled}
      onClick={() => act(reject)}
    >
      {CARDS.decisions.reject}
    </button>
  );
}

/** A request that was decided or can no longer be decided. */
export function ClosedRequest({ card, request }: RequestProps): JSX.Element {
  const reading = useReading();
  return (
    <>
      <RequestFacts card={card} />
      <details class="own-answer">
        <summary>{card.whole === undefined ? CARDS.request : CARDS.long.beginning}</summary>
        <RequestText text={request} reading={reading} />
      </details>
    </>
  );
}

function RequestFacts({ card }: { card: ApprovalCard }): JSX.Element {
  return (
    <>
      <p class="question-heading">{CARDS.permission}</p>
      <dl class="request-facts">
        <dt>{CARDS.tool}</dt>
        <dd>{marked(card.tool)}</dd>
        <dt>{CARDS.directory}</dt>
        <dd>{marked(card.directory)}</dd>
      </dl>
      {card.unusual.length > 0 && (
        <ul class="unusual">
          {card.unusual.map((one) => (
            <li key={one} data-unusual={one}>
              <Icon name="warning" />
              <span>{CARDS.unusual[one]}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Explains why the request cannot be allowed from here. */
function Limits({ card: { withheld, decisions } }: { card: ApprovalCard }): JSX.Element | null {
  if (withheld !== undefined) return <p class="late-hint">{CARDS.withheld[withheld]}</p>;
  if (decisions.includes("once") || decisions.includes("always")) return null;
  const { setting } = SESSION_TEXT.dialog;
  return <p class="dialog-setting">{decisions.includes("reject") ? setting.reject : setting.none}</p>;
}

interface ReasonProps {
  id: string;
  text: string;
  onText(text: string): void;
}

function Reason({ id, text, onText }: ReasonProps): JSX.Element {
  const { fault } = checkBody(text);
  return (
    <div class="form-field">
      <label for={id}>
        {CARDS.reason}
        <span class="optional">{QUESTION.optional}</span>
      </label>
      <input
        id={id}
        type="text"
        value={text}
        autocomplete="off"
        aria-invalid={fault !== undefined}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {fault && <p class="field-fault" role="alert">{FAULTS[fault]}</p>}
    </div>
  );
}
