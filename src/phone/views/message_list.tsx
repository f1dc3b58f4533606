/** The messages of a session, oldest first, kept at their end while the reader is there. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Message } from "../message.ts";
import type { ReceiptWords } from "../receipt_words.ts";
import type { PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { Bubble } from "./bubble.tsx";
import type { SessionActions } from "./session.tsx";

const { session: WORDS, bubble: BUBBLE } = STRINGS;
/** This near to the end counts as being at the end. */
const END_PIXELS = 60;

interface Props {
  shown: readonly { message: Message; words: ReceiptWords }[];
  history: PhoneState["history"];
  now: number;
  clockOffsetMs: number;
  actions: SessionActions;
}

export function MessageList({ shown, history, now, clockOffsetMs, actions }: Props): JSX.Element {
  const place = useKeptAtEnd(shown);
  const last = shown.at(-1)?.words;
  return (
    <main class="messages" ref={place} tabIndex={0} aria-label={WORDS.messages}>
      {history === "more" && (
        <button type="button" class="secondary older" onClick={actions.readOlder}>{WORDS.older}</button>
      )}
      {shown.length === 0 && <Nothing history={history} />}
      <ol class="bubbles">
        {shown.map(({ message, words }) => (
          <Bubble
            key={message.id}
            message={message}
            words={words}
            now={now}
            clockOffsetMs={clockOffsetMs}
            onResend={actions.resend}
            onDiscard={actions.discard}
          />
        ))}
      </ol>
      <p class="visually-hidden" role="status">{last && BUBBLE.announce(last.state, last.detail)}</p>
    </main>
  );
}

function Nothing({ history }: { history: PhoneState["history"] }): JSX.Element {
  if (history === "unread") return <p class="empty" role="status">{WORDS.loading}</p>;
  return (
    <div class="empty">
      <h2>{WORDS.emptyHeading}</h2>
      <p>{WORDS.emptyText}</p>
    </div>
  );
}

/** Follows what is added, and a field that grows, unless the reader has scrolled up. */
function useKeptAtEnd(content: unknown) {
  const place = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  const follow = (): void => {
    if (atEnd.current) place.current?.scrollTo(0, place.current.scrollHeight);
  };
  useLayoutEffect(follow, [content]);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const onScroll = (): void => {
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < END_PIXELS;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    const observer = new ResizeObserver(follow);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, []);
  return place;
}
