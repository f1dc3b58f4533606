/** A request that is longer than its push: its beginning, the whole text once fetched, and the possible decisions. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Answer, WholeRequest } from "../../protocol/ask.ts";
import type { Push } from "../../protocol/push.ts";
import { shownDigest } from "../../protocol/shown_digest.ts";
import { formatNumber } from "../format_time.ts";
import { TerminalStream } from "../terminal_stream.ts";
import type { MirrorOpener } from "../terminal_streams.ts";
import { fetchRequest } from "../whole_request.ts";
import { type ApprovalCard, Decisions } from "./approval_form.tsx";
import { CARDS, marked, RequestText, useReading, watchEdges } from "./card_parts.tsx";

interface Props {
  push: Push;
  card: ApprovalCard & { whole: WholeRequest };
  openMirror: MirrorOpener;
  draft: string;
  onDraft(text: string): void;
  onAnswer(answer: Answer): void;
}

type Loading =
  | { kind: "beginning"; failed?: keyof typeof CARDS.long.failed }
  | { kind: "loading"; share: number }
  /** `shown`: proves to the host that this phone has the whole text. */
  | { kind: "whole"; text: string; shown: string };

export function LongApproval({ push, card, openMirror, onAnswer, ...draft }: Props): JSX.Element {
  const [loading, load] = useWholeRequest({ push, card, openMirror });
  const [isRead, setRead] = useState(false);
  const { id, body = "" } = push;
  const shown = loading.kind === "whole" ? loading.shown : undefined;
  const answer = (given: Answer): void =>
    onAnswer(given.kind === "decided" && given.decision !== "reject" ? { ...given, shown } : given);
  return (
    <Decisions
      {...{ id, card: wholeCard(card), isRead, ...draft }}
      hint={shown === undefined ? CARDS.long.loadFirst : CARDS.long.readFirst}
      onAnswer={answer}
    >
      {loading.kind === "whole"
        ? <LongText text={loading.text} onRead={() => setRead(true)} />
        : <Beginning {...{ body, card, loading, load }} />}
    </Decisions>
  );
}

/** The card with the decisions that are possible once the whole request is here. */
function wholeCard({ withheld, ...card }: Props["card"]): ApprovalCard {
  const { decisions } = card.whole;
  return { ...card, decisions, ...(withheld === "never_list" ? { withheld } : {}) };
}

function useWholeRequest(
  { push, card, openMirror }: Pick<Props, "push" | "card" | "openMirror">,
): [Loading, () => void] {
  const [loading, setLoading] = useState<Loading>({ kind: "beginning" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (): Promise<void> => {
    const abort = new AbortController();
    running.current = abort;
    setLoading({ kind: "loading", share: 0 });
    const { id, agentSessionName: session = "" } = push;
    const fetched = await fetchRequest({
      id,
      whole: card.whole,
      open: (name, viewer) => openMirror(name, viewer, TerminalStream),
      signal: abort.signal,
      session: { deviceId: push.sealedFor?.host ?? "", session },
      onProgress: (share) => abort.signal.aborted || setLoading({ kind: "loading", share }),
    });
    if (fetched.kind === "cancelled" || abort.signal.aborted) return;
    setLoading(
      fetched.kind === "failed"
        ? { kind: "beginning", failed: fetched.reason }
        : { kind: "whole", text: fetched.text, shown: await shownDigest(id, fetched.text) },
    );
  };
  return [loading, () => void run()];
}

function Beginning(
  { body, card, loading, load }: {
    body: string;
    card: Props["card"];
    loading: Exclude<Loading, { kind: "whole" }>;
    load(): void;
  },
): JSX.Element {
  const reading = useReading();
  const failed = loading.kind === "beginning" ? loading.failed : undefined;
  return (
    <>
      <RequestText text={body} reading={reading} />
      {failed && <p class="field-fault" role="alert">{CARDS.long.failed[failed]}</p>}
      {loading.kind === "loading"
        ? <progress max={1} value={loading.share} aria-label={CARDS.long.loading} />
        : (
          <button type="button" class="secondary load-all" onClick={load}>
            {CARDS.long.load(formatNumber(card.whole.length))}
          </button>
        )}
    </>
  );
}

/** The whole request. Only parts near the screen are laid out and marked: the browser skips the rest. */
function LongText({ text, onRead }: { text: string; onRead(): void }): JSX.Element {
  const element = useRef<HTMLPreElement>(null);
  const parts = useMemo(() => partsOf(text), [text]);
  const lines = useMemo(() => text.split("\n").length, [text]);
  const far = useMemo(() => parts.map((part, place) => <Part key={place} part={part} isNear={false} />), [
    parts,
  ]);
  const { first, last, share } = useSeen(element, parts);
  useLayoutEffect(() => {
    if (element.current === null) return;
    const seen = { start: false, end: false };
    return watchEdges(element.current, (edges) => {
      Object.assign(seen, edges);
      if (seen.start && seen.end) onRead();
    });
  }, []);
  return (
    <div class="request">
      <p class="dialog-setting">{CARDS.long.size(formatNumber(lines), formatNumber(text.length))}</p>
      <pre
        ref={element}
        class="dialog-text request-text"
        data-wrapped="true"
        data-long="true"
        tabIndex={0}
        role="region"
        aria-label={CARDS.request}
      ><i class="edge" />{far.map((shown, place) =>
        place >= first && place <= last ? <Part key={place} part={parts[place]} isNear /> : shown
      )}<i class="edge" /></pre>
      <p class="dialog-setting">{CARDS.long.share(Math.floor(share * 100))}</p>
      <button type="button" class="quiet wrap" onClick={() => element.current && toEnd(element.current)}>
        {CARDS.long.toEnd}
      </button>
    </div>
  );
}

function Part({ part, isNear }: { part: RequestPiece | undefined; isNear: boolean }): JSX.Element | null {
  if (part === undefined) return null;
  const style = { containIntrinsicBlockSize: `auto ${part.rows * ROW_EM}em` };
  return (
    <span class="part" data-goes-on={part.goesOn || undefined} style={style}>
      {isNear ? marked(part.text) : part.text}
    </span>
  );
}

/** An estimate, until the browser has laid a part out. */
const ROW_EM = 1.5;
/** This many parts before and after those on the screen are prepared for scrolling. */
const NEAR = 2;
/** The number of slices in which each part is counted as seen. */
const SLICES = 32;
/** How often scrolling to the end is repeated: laying out new parts moves the end a little. */
const END_TRIES = 10;

interface Seen {
  first: number;
  last: number;
  /** How much of the text has been on the screen. */
  share: number;
}

function useSeen(element: { current: HTMLPreElement | null }, parts: readonly RequestPiece[]): Seen {
  const slices = useRef(new Set<number>());
  const [seen, setSeen] = useState<Seen>({ first: 0, last: NEAR, share: 0 });
  useEffect(() => {
    const pre = element.current;
    if (pre === null) return;
    let frame = 0;
    const look = (): void => {
      frame = 0;
      const { first, last } = onScreen(pre, slices.current);
      const share = parts.length === 0 ? 1 : slices.current.size / (parts.length * SLICES);
      setSeen({ first: first - NEAR, last: last + NEAR, share });
    };
    const later = (): void => void (frame ||= requestAnimationFrame(look));
    const sizes = new ResizeObserver(later);
    sizes.observe(pre);
    pre.addEventListener("scroll", later, { passive: true });
    addEventListener("scroll", later, { passive: true, capture: true });
    return () => {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      pre.removeEventListener("scroll", later);
      removeEventListener("scroll", later, { capture: true });
    };
  }, [parts]);
  return seen;
}

/** Returns the parts that are on the screen, and adds their visible slices to `slices`. */
function onScreen(pre: HTMLElement, slices: Set<number>): { first: number; last: number } {
  const rect = pre.getBoundingClientRect();
  const [top, bottom] = [Math.max(0, rect.top), Math.min(innerHeight, rect.bottom)];
  const parts = pre.querySelectorAll(".part");
  const bottomOf = (place: number): number => parts[place]?.getBoundingClientRect().bottom ?? Infinity;
  let [first, end] = [0, parts.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    if (bottomOf(middle) <= top) first = middle + 1;
    else end = middle;
  }
  let last = first;
  for (let place = first; place < parts.length; place++) {
    const part = parts[place]?.getBoundingClientRect();
    if (part === undefined || part.top >= bottom) break;
    last = place;
    for (let slice = 0; slice < SLICES; slice++) {
      const middle = part.top + part.height * (slice + 0.5) / SLICES;
      if (middle >= top && middle <= bottom) slices.add(place * SLICES + slice);
    }
  }
  return { first, last };
}

function toEnd(pre: HTMLElement, tries = END_TRIES): void {
  pre.scrollTop = pre.scrollHeight;
  if (tries > 0) requestAnimationFrame(() => toEnd(pre, tries - 1));
}

/** The most characters of a piece: a few screens. */
export const PIECE_CHARS = 4_096;
/** Characters in a row on a phone, for the estimate of a piece's height. */
const ROW_CHARS = 44;
/** The length of the longest name of a hidden character, which must not be split. */
const NAME_MAX_CHARS = 10;

interface RequestPiece {
  text: string;
  /** About how many rows it takes on a phone. */
  rows: number;
  /** It begins within a line. */
  goesOn: boolean;
}

/** Splits the text into pieces: after a line if possible, else between two characters. */
export function partsOf(text: string): RequestPiece[] {
  const pieces: RequestPiece[] = [];
  for (let at = 0; at < text.length;) {
    const end = cutAfter(text, at);
    const piece = text.slice(at, end);
    pieces.push({ text: piece, rows: rowsOf(piece), goesOn: at > 0 && text[at - 1] !== "\n" });
    at = end;
  }
  return pieces;
}

function cutAfter(text: string, at: number): number {
  const most = at + PIECE_CHARS;
  if (most >= text.length) return text.length;
  const line = text.slice(at, most).lastIndexOf("\n");
  if (line >= 0) return at + line + 1;
  const name = text.slice(most - NAME_MAX_CHARS, most).lastIndexOf("⟨");
  const isCut = name > 0 && !text.slice(most - NAME_MAX_CHARS + name, most).includes("⟩");
  if (isCut) return most - NAME_MAX_CHARS + name;
  const isPair = /[\ud800-\udbff]/.test(text[most - 1] ?? "") && /[\udc00-\udfff]/.test(text[most] ?? "");
  return isPair ? most - 1 : most;
}

function rowsOf(piece: string): number {
  const lines = piece.endsWith("\n") ? piece.slice(0, -1).split("\n") : piece.split("\n");
  return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / ROW_CHARS)), 0);
}
