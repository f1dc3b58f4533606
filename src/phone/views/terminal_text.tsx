/** The terminal as plain text over the page: the browser's own selection works on it, and so does a screen reader. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { STRINGS } from "../strings.ts";

const { terminal: WORDS } = STRINGS;

export function TerminalText({ text, onClose }: { text: string; onClose(): void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
    const shown = dialog.current?.querySelector("pre");
    shown?.scrollTo(0, shown.scrollHeight);
  }, []);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <dialog class="terminal-text" ref={dialog} aria-label={WORDS.text} onClose={onClose}>
      <pre tabIndex={0}>{text}</pre>
      <div class="terminal-text-foot">
        {isSecureContext && (
          <button type="button" class="secondary" onClick={() => void copy()}>
            {isCopied ? WORDS.copied : WORDS.copyAll}
          </button>
        )}
        <button type="button" class="primary" onClick={() => dialog.current?.close()}>{WORDS.close}</button>
      </div>
    </dialog>
  );
}
