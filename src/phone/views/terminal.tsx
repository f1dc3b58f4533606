/** The session's terminal: status line, screen, flowing text, and plain text to select and for screen readers. */
import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isSelectedIn } from "../terminal_follow.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { sessionKey, type SessionName } from "../sessions.ts";
import { isComposed } from "../terminal_input.ts";
import { endedText, statusText } from "../terminal_status.ts";
import { useFollowedEnd } from "./followed_end.ts";
import { KeyRow, type LatchedTerminal, useLatches } from "./key_row.tsx";
import { LiveField } from "./live_field.tsx";
import { Icon, type IconName, SealSign, SEARCH_EVENT } from "./shared.tsx";
import { type OpenMirror, type Terminal, useTerminal } from "./use_terminal.ts";

const { terminal: TEXT } = SESSION_TEXT;

interface Props {
  name: SessionName;
  /** The session's label. */
  label: string;
  /** False while there is no link to the relay. */
  isLinked: boolean;
  openMirror: OpenMirror;
  /** The newest message's receipt. */
  newest: JSX.Element | null;
  /** Shown in place of the keys once the session has ended. */
  ended: JSX.Element | undefined;
  /** It goes on under another name. */
  isRenamed: boolean;
  /** Why a message cannot be delivered right now. */
  note: JSX.Element | null;
  /** The link's notice. */
  notice: JSX.Element;
  composer: JSX.Element | null;
}

export function TerminalPanel(props: Props): JSX.Element {
  const { label, newest, note, notice, composer, ended, isRenamed } = props;
  const terminal = useLinkedTerminal(props);
  const [isLive, setLive] = useState(false);
  const [isMore, setMore] = useState(false);
  const [text, setText] = useState<string>();
  const [isFinding, setFinding] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  const find = (): void => {
    terminal.showAsText(false);
    setFinding(true);
  };
  useSearchShortcut(find);
  const isTyping = isLive && ended === undefined;
  return (
    <>
      <main class="terminal" aria-label={TEXT.label(label)} data-stream={terminal.info.stream.kind}>
        <StatusLine terminal={terminal} isOver={ended !== undefined} isRenamed={isRenamed} />
        <div class="notice-anchor">{notice}</div>
        <Place terminal={terminal} isFinding={isFinding} onFound={() => setFinding(false)} />
        {ended !== undefined && terminal.text().trim() === "" && <NoScreen />}
      </main>
      <section class="session-foot" aria-label={TEXT.foot}>
        {note}
        {ended}
        {ended === undefined && (
          <KeyRow
            terminal={terminal}
            isMore={isMore}
            onMore={setMore}
            onLatch={() => setLive(true)}
            onSelect={() => setText(terminal.text())}
            onFind={find}
          />
        )}
        {!isTyping && newest}
        {/* The field keeps its place at the end: its focus and what is being typed would be lost. */}
        {(isTyping || composer !== null) && (
          <div class={ended === undefined ? "type-row" : ""}>
            {ended === undefined && <LiveToggle button={toggle} isLive={isLive} onChange={setLive} />}
            {isTyping
              ? <LiveField label={label} terminal={terminal} onLeave={() => toggle.current?.focus()} />
              : composer}
          </div>
        )}
      </section>
      {text !== undefined && <TerminalText text={text} onClose={() => setText(undefined)} />}
    </>
  );
}

/** The exact screen and its overlays: the flowing text, the search field, and the button back to the end. */
function Place(
  { terminal, isFinding, onFound }: { terminal: Terminal; isFinding: boolean; onFound(): void },
): JSX.Element {
  const { info: { away }, asText } = terminal;
  const text = useRef<HTMLPreElement>(null);
  const toEnd = (): void => text.current?.scrollTo(0, text.current.scrollHeight);
  const close = (): void => {
    onFound();
    terminal.container.current?.focus({ preventScroll: true });
  };
  return (
    <>
      <div class="terminal-place" ref={terminal.container} tabIndex={0} role="img" aria-label={TEXT.screen} />
      {asText && <FlowingText terminal={terminal} place={text} />}
      {isFinding && <FindBar terminal={terminal} onClose={close} />}
      {away && !isFinding && (
        <LatestPill
          newer={away.newer}
          onPress={asText ? toEnd : terminal.showLatest}
        />
      )}
    </>
  );
}

/** The text is refreshed at most this often. */
const REFRESH_MS = 250;
/** This close to the end counts as the end. */
const END_PIXELS = 24;

/** The output as text that wraps at the phone's width, over the exact screen. */
function FlowingText(
  { terminal, place }: { terminal: Terminal; place: RefObject<HTMLPreElement | null> },
): JSX.Element {
  const end = useFollowedEnd(place, { near: END_PIXELS });
  const [text, setText] = useState(() => flowing(terminal.text()));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = (): void => {
      timer = undefined;
      // Replacing the text would end the user's selection.
      if (isSelectedIn(place.current)) return void (timer = setTimeout(update, REFRESH_MS));
      setText(flowing(terminal.text()));
    };
    update();
    const stop = terminal.onDrawn(() => void (timer ??= setTimeout(update, REFRESH_MS)));
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [terminal.info.stream.kind]);
  // Runs before the text is painted: else its beginning would show first, and a user who scrolls up would be sent back.
  useLayoutEffect(end.follow, [text]);
  const isAway = terminal.info.away !== undefined;
  const scrolled = (): void => {
    const isAtEnd = end.scrolled();
    if (isAtEnd === isAway) terminal.setAway(isAtEnd ? undefined : { newer: 0 });
  };
  return (
    <pre
      class="flowing-text"
      ref={place}
      tabIndex={0}
      aria-label={TEXT.text}
      role="region"
      onScroll={scrolled}
    >
      {text}
    </pre>
  );
}

/** The text shows this many lines from the end. */
const LINES_MAX = 1_000;
const RULE = /[─━═╌┄▔▁_-]{4,}/g;
const [LEFT_EDGE, RIGHT_EDGE] = [/^\s*[│┃║|] ?/, /[│┃║|]$/];
const FRAME = /^\s*[╭┌┏╔╰└┗╚├┣╠].*[╮┐┓╗╯┘┛╝┤┫╣]$/;

/** A terminal's text for a narrow screen: edges of boxes are left out, rules are short, and there is at most one blank line in a row. */
export function flowing(text: string): string {
  const lines = text.split("\n").slice(-LINES_MAX).map((untrimmed) => {
    const line = untrimmed.trimEnd();
    const isFrame = FRAME.test(line);
    const inner = line.replace(LEFT_EDGE, "").replace(RIGHT_EDGE, "");
    const bare = isFrame ? inner.replace(/[╭┌┏╔╰└┗╚├┣╠╮┐┓╗╯┘┛╝┤┫╣]/g, "") : inner;
    return bare.replace(RULE, "───").replace(/ {3,}/g, "  ").trimEnd();
  });
  return lines.join("\n").replace(/\n{3,}/g, "\n\n");
}

/** Shown for an ended session, where its screen would be. */
function NoScreen(): JSX.Element {
  const { heading, why, next } = TEXT.gone;
  return (
    <div class="no-screen" tabIndex={0}>
      <h2>{heading}</h2>
      <p>{why}</p>
      <p>{next}</p>
    </div>
  );
}

/** The button back to the newest lines, with the number of lines added meanwhile. */
function LatestPill({ newer, onPress }: { newer: number; onPress(): void }): JSX.Element {
  return (
    <button type="button" class="latest" data-newer={newer > 0} onClick={onPress}>
      {TEXT.latest(newer)}
      <Icon name="down" />
    </button>
  );
}

/** Makes the search shortcut search the terminal's output. */
function useSearchShortcut(find: () => void): void {
  useEffect(() => {
    const onSearch = (event: Event): void => {
      event.preventDefault();
      find();
    };
    document.addEventListener(SEARCH_EVENT, onSearch);
    return () => document.removeEventListener(SEARCH_EVENT, onSearch);
  });
}

/** Without a link nothing is live, whatever state the stream was in. */
function useLinkedTerminal({ name, openMirror, isLinked }: Props): LatchedTerminal {
  const terminal = useLatches(useTerminal(name, openMirror), sessionKey(name));
  return isLinked ? terminal : { ...terminal, info: { ...terminal.info, stream: { kind: "lost" } } };
}

function StatusLine(
  { terminal: { info, retry, text }, isOver, isRenamed }: {
    terminal: Terminal;
    isOver: boolean;
    isRenamed: boolean;
  },
): JSX.Element {
  const { status, warning, tone } = isOver ? endedText(text(), isRenamed) : statusText(info);
  const { stream, latencyMs } = info;
  const isLive = stream.kind === "live";
  return (
    <div class="terminal-status" data-away={info.away !== undefined} data-tone={tone}>
      <p class="facts">
        <span role="status">{status}</span>
        {isLive && <SealSign mode={stream.sealing} />}
        {isLive && latencyMs !== undefined && (
          <span class="latency">{TEXT.latency(Math.round(latencyMs))}</span>
        )}
      </p>
      <p class="terminal-warning" role="status">{warning}</p>
      {stream.kind === "ended" && !isOver && (
        <button type="button" class="quiet" onClick={retry}>{TEXT.again}</button>
      )}
    </div>
  );
}

interface LiveToggleProps {
  button: { current: HTMLButtonElement | null };
  isLive: boolean;
  onChange(isLive: boolean): void;
}

/** Switches between writing messages and sending each key at once. */
function LiveToggle({ button, isLive, onChange }: LiveToggleProps): JSX.Element {
  return (
    <button
      type="button"
      class="live-toggle"
      ref={button}
      aria-label={TEXT.liveName}
      aria-pressed={isLive}
      onClick={() => onChange(!isLive)}
    >
      <Icon name="keyboard" />
      <span aria-hidden="true">{TEXT.live}</span>
    </button>
  );
}

/** The terminal as plain text over the page, for the browser's own selection and for screen readers. */
function TerminalText({ text, onClose }: { text: string; onClose(): void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [copied, setCopied] = useState<"copied" | "refused">();
  useEffect(() => {
    dialog.current?.showModal();
    const shown = dialog.current?.querySelector("pre");
    shown?.scrollTo(0, shown.scrollHeight);
  }, []);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied("copied");
    } catch {
      setCopied("refused");
    }
  };
  return (
    <dialog class="terminal-text" ref={dialog} aria-label={TEXT.text} onClose={onClose}>
      <pre tabIndex={0}>{text}</pre>
      <p class="session-note" role="status">{copied === "refused" && TEXT.notCopied}</p>
      <div class="terminal-text-foot">
        {isSecureContext && (
          <button type="button" class="secondary" onClick={() => void copy()}>
            {copied === "copied" ? TEXT.copied : TEXT.copyAll}
          </button>
        )}
        <button type="button" class="primary" onClick={() => dialog.current?.close()}>{TEXT.close}</button>
      </div>
    </dialog>
  );
}

interface Find {
  field: { current: HTMLInputElement | null };
  wanted: string;
  found: { lines: number[]; at: number };
  search(text: string): void;
  /** Moves to the next match, or to the one before. */
  move(step: 1 | -1): void;
}

function useFind(terminal: Terminal): Find {
  const field = useRef<HTMLInputElement>(null);
  const [wanted, setWanted] = useState("");
  const [found, setFound] = useState<Find["found"]>({ lines: [], at: 0 });
  useEffect(() => {
    field.current?.focus();
    terminal.loadEarlier();
    return () => terminal.showFound(undefined);
  }, []);
  const show = (lines: number[], at: number): void => {
    setFound({ lines, at });
    terminal.showFound(lines[at]);
  };
  const search = (text: string): void => {
    setWanted(text);
    const lines = terminal.find(text);
    show(lines, lines.length - 1);
  };
  /** Searches again, from the marked line, because lines may have been added. */
  const move = (step: 1 | -1): void => {
    const before = found.lines[found.at];
    const lines = terminal.find(wanted);
    const at = before === undefined ? lines.length - 1 : lines.indexOf(before) + step;
    show(lines, (at + lines.length) % Math.max(1, lines.length));
  };
  return { field, wanted, found, search, move };
}

/** Searches the terminal's whole output, match by match. */
function FindBar({ terminal, onClose }: { terminal: Terminal; onClose(): void }): JSX.Element {
  const { field, wanted, found, search, move } = useFind(terminal);
  const onKey = (event: KeyboardEvent): void => {
    if (isComposed(event)) return;
    if (event.key === "Enter") move(event.shiftKey ? 1 : -1);
    if (event.key !== "Escape") return;
    // The page's shortcut for this key would move the focus somewhere else.
    event.preventDefault();
    onClose();
  };
  return (
    <search class="find-bar">
      <input
        ref={field}
        type="search"
        class="text-field"
        aria-label={TEXT.findLabel}
        placeholder={TEXT.find}
        autocapitalize="off"
        autocomplete="off"
        spellcheck={false}
        value={wanted}
        onInput={({ currentTarget }) => search(currentTarget.value)}
        onKeyDown={onKey}
      />
      {wanted !== "" && <FindCount {...found} />}
      <FindButton name={TEXT.findPrevious} icon="up" onPress={() => move(-1)} />
      <FindButton name={TEXT.findNext} icon="down" onPress={() => move(1)} />
      <FindButton name={TEXT.close} icon="close" onPress={onClose} />
    </search>
  );
}

function FindCount({ lines, at }: { lines: readonly number[]; at: number }): JSX.Element {
  const text = TEXT.findCount(lines.length === 0 ? 0 : at + 1, lines.length);
  return <span class="find-count" role="status">{text}</span>;
}

function FindButton({ name, icon, onPress }: { name: string; icon: IconName; onPress(): void }): JSX.Element {
  return (
    <button type="button" aria-label={name} onClick={onPress}>
      <Icon name={icon} />
    </button>
  );
}
