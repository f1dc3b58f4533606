/** The session's terminal: its status line, its screen, and a text of it to select from. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
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
  openMirror: OpenMirror;
  /** What became of the newest message. */
  newest: ReceiptWords | undefined;
  /** The field in which messages are written. */
  composer: JSX.Element;
}

export function TerminalPanel({ name, label, openMirror, newest, composer }: Props): JSX.Element {
  const terminal = useTerminal(name, openMirror);
  const [isLive, setLive] = useState(false);
  const [isMore, setMore] = useState(false);
  const [text, setText] = useState<string>();
  return (
    <>
      <main class="terminal" aria-label={WORDS.label(label)}>
        <StatusLine terminal={terminal} />
        <div class="terminal-place" ref={terminal.place} tabIndex={0} role="img" aria-label={WORDS.screen} />
      </main>
      <div class="session-foot">
        <KeyRow terminal={terminal} isMore={isMore} onSelect={() => setText(terminal.text())} />
        <div class="terminal-ways">
          <Switch isLive={isLive} onChange={setLive} />
          <button type="button" class="quiet" aria-expanded={isMore} onClick={() => setMore(!isMore)}>
            {WORDS.more}
          </button>
        </div>
        {isLive
          ? <LiveField label={label} terminal={terminal} />
          : <>{newest && <NewestReceipt words={newest} />}{composer}</>}
      </div>
      {text !== undefined && <TerminalText text={text} onClose={() => setText(undefined)} />}
    </>
  );
}

function StatusLine({ terminal: { told, again } }: { terminal: Terminal }): JSX.Element {
  const { status, keys, tone } = terminalWords(told);
  const { stream, latencyMs } = told;
  return (
    <div class="terminal-status" data-tone={tone}>
      <p class="facts" role="status">
        <span>{status}</span>
        {stream.kind === "live" && <SealSign mode={stream.sealing} short />}
        {latencyMs !== undefined && <span>{WORDS.latency(Math.round(latencyMs))}</span>}
        {keys !== "" && <strong>{keys}</strong>}
      </p>
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
      {detail !== "" && <span>{detail}</span>}
    </p>
  );
}

/** Two ways to type: a message that goes in as one prompt, or each key at once. */
function Switch({ isLive, onChange }: { isLive: boolean; onChange(isLive: boolean): void }): JSX.Element {
  return (
    <div class="switch" role="group" aria-label={WORDS.ways}>
      <button type="button" aria-pressed={!isLive} onClick={() => onChange(false)}>{WORDS.message}</button>
      <button type="button" aria-pressed={isLive} onClick={() => onChange(true)}>{WORDS.live}</button>
    </div>
  );
}
