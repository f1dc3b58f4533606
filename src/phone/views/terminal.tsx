/** The session's terminal: its status line, its screen, and a text of it to select from. */
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { SessionName } from "../names.ts";
import type { ReceiptWords } from "../receipt_words.ts";
import { STRINGS } from "../strings.ts";
import { terminalWords } from "../terminal_words.ts";
import { Icon, TONE_ICONS } from "./icons.tsx";
import { KeyRow } from "./key_row.tsx";
import { LiveField } from "./live_field.tsx";
import { SealSign } from "./seal_sign.tsx";
import { TerminalText } from "./terminal_text.tsx";
import { type OpenMirror, type Terminal, useTerminal } from "./use_terminal.ts";

const { terminal: WORDS } = STRINGS;

interface Props {
  name: SessionName;
  /** How the session is called. */
  label: string;
  /** False while there is no link to the relay. */
  isLinked: boolean;
  openMirror: OpenMirror;
  /** What became of the newest message. */
  newest: ReceiptWords | undefined;
  /** What stands in the way of a message. */
  note: JSX.Element | null;
  /** What is to be said about the link. */
  notice: JSX.Element;
  /** The field in which messages are written. */
  composer: JSX.Element;
}

export function TerminalPanel(props: Props): JSX.Element {
  const { label, newest, note, notice, composer } = props;
  const terminal = useLinkedTerminal(props);
  const [isLive, setLive] = useState(false);
  const [isMore, setMore] = useState(false);
  const [text, setText] = useState<string>();
  const toggle = useRef<HTMLButtonElement>(null);
  return (
    <>
      <main class="terminal" aria-label={WORDS.label(label)} data-stream={terminal.told.stream.kind}>
        <StatusLine terminal={terminal} />
        <div class="notice-anchor">{notice}</div>
        <div class="terminal-place" ref={terminal.place} tabIndex={0} role="img" aria-label={WORDS.screen} />
      </main>
      <div class="session-foot">
        {note}
        <KeyRow
          terminal={terminal}
          isMore={isMore}
          onMore={setMore}
          onSelect={() => setText(terminal.text())}
        />
        {newest && !isLive && <NewestReceipt words={newest} />}
        <div class="type-row">
          <LiveToggle place={toggle} isLive={isLive} onChange={setLive} />
          {isLive
            ? <LiveField label={label} terminal={terminal} onLeave={() => toggle.current?.focus()} />
            : composer}
        </div>
      </div>
      {text !== undefined && <TerminalText text={text} onClose={() => setText(undefined)} />}
    </>
  );
}

/** Without a link nothing is live, whatever the stream said last. */
function useLinkedTerminal({ name, openMirror, isLinked }: Props): Terminal {
  const terminal = useTerminal(name, openMirror);
  return isLinked ? terminal : { ...terminal, told: { ...terminal.told, stream: { kind: "lost" } } };
}

function StatusLine({ terminal: { told, again } }: { terminal: Terminal }): JSX.Element {
  const { status, keys, tone } = terminalWords(told);
  const { stream, latencyMs } = told;
  const isLive = stream.kind === "live";
  return (
    <div class="terminal-status" data-tone={tone}>
      <p class="facts">
        <span role="status">{status}</span>
        {isLive && <SealSign mode={stream.sealing} short />}
        {isLive && latencyMs !== undefined && (
          <span class="latency">{WORDS.latency(Math.round(latencyMs))}</span>
        )}
      </p>
      <p class="terminal-warning" role="status">{keys}</p>
      {stream.kind === "ended" && <button type="button" class="quiet" onClick={again}>{WORDS.again}</button>}
    </div>
  );
}

/** The rest of what is said about a message stands with the messages. */
function NewestReceipt({ words: { tone, state, detail } }: { words: ReceiptWords }): JSX.Element {
  return (
    <p class="newest-receipt" data-tone={tone} role="status">
      <Icon name={TONE_ICONS[tone]} />
      <span class="receipt-state">{state}</span>
      {detail !== "" && <span class="newest-detail">{detail}</span>}
    </p>
  );
}

interface LiveToggleProps {
  place: { current: HTMLButtonElement | null };
  isLive: boolean;
  onChange(isLive: boolean): void;
}

/** Two ways to type: a message that goes in as one prompt, or each key at once. */
function LiveToggle({ place, isLive, onChange }: LiveToggleProps): JSX.Element {
  return (
    <button
      type="button"
      class="live-toggle"
      ref={place}
      aria-label={WORDS.liveName}
      aria-pressed={isLive}
      onClick={() => onChange(!isLive)}
    >
      <Icon name="keyboard" />
      <span aria-hidden="true">{WORDS.live}</span>
    </button>
  );
}
