/** What came of a pairing: the words to compare with the host's, or why there is none. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { PairingNews } from "../state.ts";
import { STRINGS } from "../strings.ts";

const { pairing: WORDS, signIn } = STRINGS;

export interface PairingActions {
  /** The words are the same, or the person has read why not. */
  pairingRead(): void;
  wordsDiffer(): void;
}

export function PairingView({ news, actions }: { news: PairingNews; actions: PairingActions }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <main class="pairing">
      <h1 ref={heading} tabIndex={-1}>
        {news.kind === "words" ? WORDS.heading(news.host) : WORDS.failedHeading}
      </h1>
      {news.kind === "words"
        ? <Compare words={news.words} host={news.host} actions={actions} />
        : <Failed problem={signIn.problems[news.code] ?? news.message} onRead={actions.pairingRead} />}
    </main>
  );
}

function Compare(
  { words, host, actions }: { words: readonly string[]; host: string; actions: PairingActions },
): JSX.Element {
  return (
    <>
      <p class="lead">{WORDS.compare(host)}</p>
      <ol class="phrase">{words.map((word, place) => <li key={place}>{word}</li>)}</ol>
      <div class="pairing-actions">
        <button type="button" class="primary" onClick={actions.pairingRead}>{WORDS.same}</button>
        <button type="button" class="secondary" onClick={actions.wordsDiffer}>{WORDS.differ}</button>
      </div>
    </>
  );
}

function Failed({ problem, onRead }: { problem: string; onRead(): void }): JSX.Element {
  return (
    <>
      <p class="problem" role="alert">{problem}</p>
      <div class="pairing-actions">
        <button type="button" class="primary" onClick={onRead}>{WORDS.understood}</button>
      </div>
    </>
  );
}
