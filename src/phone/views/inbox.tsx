/** The inbox: open questions to answer, and below what was told and answered before. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { momentWords } from "../ages.ts";
import { closedItems, type InboxItem, openQuestions, type ToldItem } from "../inbox.ts";
import { formatRoute } from "../route.ts";
import { relayNow } from "../selectors.ts";
import type { PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { type AskActions, AskCard } from "./ask_card.tsx";
import { Icon } from "./icons.tsx";
import { PushSession } from "./push_session.tsx";
import { PlainSign } from "./seal_sign.tsx";
import { useNow } from "./use_now.ts";

const { inbox: WORDS, question: QUESTION } = STRINGS;
/** The time left of a question is shown by the minute. */
const NOW_EVERY_MS = 5_000;

export interface InboxActions extends AskActions {
  readOlder(): void;
}

interface Props {
  state: PhoneState;
  /** What is to be said about the link. */
  notice: JSX.Element;
  actions: InboxActions;
}

export function InboxView({ state, notice, actions }: Props): JSX.Element {
  const now = relayNow(state, useNow(NOW_EVERY_MS));
  const open = openQuestions(state.inbox);
  const closed = closedItems(state.inbox);
  return (
    <div class="page">
      <InboxHead />
      <main class="picker inbox">
        <p class="visually-hidden" role="status">{QUESTION.announce(open.length)}</p>
        {state.inbox.size === 0 && <Nothing isRead={state.history !== "unread"} />}
        <Group name="open" items={open} {...{ state, now, actions }} />
        <Group name="closed" items={closed} {...{ state, now, actions }} />
        {state.history === "more" && (
          <button type="button" class="secondary older" onClick={actions.readOlder}>
            {STRINGS.session.older}
          </button>
        )}
      </main>
      {notice}
    </div>
  );
}

function InboxHead(): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <header class="session-head">
      <a class="back" href={formatRoute({ view: "picker" })} aria-label={WORDS.back}>
        <Icon name="back" />
      </a>
      <div class="session-title">
        <h1 ref={heading} tabIndex={-1}>{WORDS.heading}</h1>
      </div>
    </header>
  );
}

interface GroupProps {
  name: "open" | "closed";
  items: readonly InboxItem[];
  state: PhoneState;
  now: number;
  actions: InboxActions;
}

function Group({ name, items, state, now, actions }: GroupProps): JSX.Element | null {
  if (items.length === 0) return null;
  return (
    <section class="group" data-group={name} aria-labelledby={`inbox-${name}`}>
      <h2 id={`inbox-${name}`}>
        {WORDS[name]}
        {name === "open" && <span class="group-count">{items.length}</span>}
      </h2>
      <ul class="cards">
        {items.map((item) =>
          item.kind === "question"
            ? <AskCard key={item.push.id} {...{ state, item, now, actions }} />
            : <ToldCard key={item.push.id} {...{ state, item, now }} />
        )}
      </ul>
    </section>
  );
}

function ToldCard({ state, item, now }: { state: PhoneState; item: ToldItem; now: number }): JSX.Element {
  const { push, type } = item;
  return (
    <li class="card told" data-type={type} data-level={String(push.data?.["level"] ?? "")}>
      <div class="card-head">
        <PushSession state={state} push={push} />
        <time class="card-time" dateTime={new Date(push.createdAt).toISOString()}>
          {momentWords(push.createdAt, now)}
        </time>
      </div>
      <p class="facts">
        <span class="fact-icon">
          <Icon name="bell" />
          {WORDS.told[type]}
        </span>
      </p>
      <PlainSign state={state} push={push} />
      {isUnread(push) && <p class="question-text">{STRINGS.sealing.forOthers}</p>}
      {push.title && <p class="told-title">{push.title}</p>}
      {push.body && <p class="question-text">{push.body}</p>}
    </li>
  );
}

/** Sealed for phones of which this is none. */
function isUnread({ sealedFor, title, body }: ToldItem["push"]): boolean {
  return sealedFor !== undefined && title === undefined && body === undefined;
}

function Nothing({ isRead }: { isRead: boolean }): JSX.Element {
  if (!isRead) return <p class="empty" role="status">{WORDS.loading}</p>;
  return (
    <div class="empty">
      <h2>{WORDS.emptyHeading}</h2>
      <p>{WORDS.emptyText}</p>
    </div>
  );
}
