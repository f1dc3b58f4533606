/** The field for live typing. It is a real text field, so that input methods and dictation work; text is sent at once. */
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { KeyInput } from "../../protocol/key_input.ts";
import { checkBody } from "../check_input.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { canSendWhileComposing, inputOfKey, inputsOfChange, isUnsendable } from "../terminal_input.ts";
import { isBlocked } from "../terminal_status.ts";
import type { LatchedTerminal } from "./key_row.tsx";

const { terminal: TEXT, latches: LATCHES, paste: PASTE } = SESSION_TEXT;

interface Props {
  /** The session's label. */
  label: string;
  terminal: LatchedTerminal;
  onLeave(): void;
}

export function LiveField({ label, terminal, onLeave }: Props): JSX.Element {
  const { field, isComposing, events } = useLiveTyping(terminal, onLeave);
  const isOff = isBlocked(terminal.info);
  return (
    <div class="live-field">
      <textarea
        ref={field}
        rows={1}
        aria-label={TEXT.liveLabel(label)}
        aria-describedby="live-leave"
        autocomplete="off"
        autocapitalize="off"
        autocorrect="off"
        spellcheck={false}
        enterkeyhint="enter"
        readOnly={isOff}
        {...events}
      />
      {isComposing || (
        <span class="live-hint" aria-hidden="true">{isOff ? TEXT.liveBlocked : TEXT.liveHint}</span>
      )}
      <span id="live-leave" class="visually-hidden">{TEXT.liveLeave}</span>
    </div>
  );
}

/** Always in the field: some keyboards report a backspace only if there is something to delete. */
const PADDING = " ";

type Field = HTMLTextAreaElement;

interface LiveTyping {
  field: RefObject<Field | null>;
  isComposing: boolean;
  events: {
    onInput(event: Event): void;
    onCompositionStart(): void;
    onCompositionEnd(): void;
    onClick(): void;
    onKeyDown(event: KeyboardEvent): void;
  };
}

/** `onLeave` is called for Shift+Esc: Tab is sent to the terminal, so keyboard users need another way out. */
function useLiveTyping(terminal: LatchedTerminal, onLeave: () => void): LiveTyping {
  const field = useRef<Field>(null);
  const [isComposing, setComposing] = useState(false);
  const composition = useRef({ typed: "", lastKey: "", isOpen: false });
  // Runs before the field is painted: a later reset would discard what the user has typed by then.
  useLayoutEffect(() => {
    resetField(field.current);
    field.current?.focus();
  }, []);
  const commit = (): void => {
    if (take(field.current, { before: composition.current.typed, terminal })) composition.current.typed = "";
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    composition.current.lastKey = event.key;
    if (event.key === "Escape" && event.shiftKey) return onLeave();
    const input = inputOfKey(event);
    if (isBlocked(terminal.info)) {
      const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey && event.key !== "Tab";
      const isKey = [...event.key].length === 1 || input !== undefined;
      if (terminal.info.stream.kind !== "live" && isPlain && isKey) terminal.miss();
      return;
    }
    const isRefused = isUnsendable(event);
    if (isRefused) terminal.say(LATCHES.noSuchKey);
    if (isRefused || input !== undefined) event.preventDefault();
    if (input === undefined) return;
    terminal.type([input]);
  };
  const onInput = (event: Event): void => {
    if ((event as InputEvent).isComposing) {
      typeComposition(field.current, { composition: composition.current, terminal });
    } else commit();
  };
  const setOpen = (isOpen: boolean): void => {
    composition.current.isOpen = isOpen;
    setComposing(isOpen);
  };
  const onCompositionEnd = (): void => {
    setOpen(false);
    commit();
  };
  const onCompositionStart = (): void => setOpen(true);
  useLayoutEffect(() => {
    terminal.settle.current = () => settle(field.current, { composition: composition.current, terminal });
  });
  useLayoutEffect(() => () => void (terminal.settle.current = () => {}), []);
  // A tap may put the cursor before the padding, where there is nothing to delete.
  const onClick = (): void => {
    if (field.current?.value === PADDING) resetField(field.current);
  };
  const events = { onInput, onCompositionStart, onCompositionEnd, onClick, onKeyDown };
  return { field, isComposing, events };
}

/** Sends the text of an unfinished composition, if it can be sent already. */
function typeComposition(
  field: Field | null,
  { composition, terminal }: { composition: { typed: string; lastKey: string }; terminal: LatchedTerminal },
): void {
  if (field === null) return;
  const text = textOf(field);
  if (!canSendWhileComposing(text, composition.lastKey)) return;
  const isKey = terminal.isHeld();
  if (!typeNow(terminal, inputsOfChange(composition.typed, text))) return;
  composition.typed = text;
  if (!isKey) return;
  // A letter with Ctrl is not part of a word, so the composition starts over.
  composition.typed = "";
  resetField(field);
}

/** Sends the whole text of an open composition and ends it. The keyboard stays open. */
function settle(
  field: Field | null,
  { composition, terminal }: {
    composition: { typed: string; isOpen: boolean };
    terminal: LatchedTerminal;
  },
): void {
  if (field === null || !composition.isOpen || isBlocked(terminal.info)) return;
  const text = textOf(field);
  if (!terminal.type(inputsOfChange(composition.typed, text))) return;
  // The input method hands over the same text when it loses the field.
  composition.typed = text;
  field.blur();
  field.focus();
  composition.typed = "";
  resetField(field);
}

/**
 * Sends the field's text, of which `before` is already typed. Missing padding means a backspace. Returns false, and
 * keeps the text in the field, if nothing was sent.
 */
function take(
  field: Field | null,
  { before, terminal }: { before: string; terminal: LatchedTerminal },
): boolean {
  if (field === null) return false;
  const inputs = field.value === "" && before === ""
    ? [{ type: "key" as const, key: "BSpace" }]
    : inputsOfChange(before, textOf(field));
  const isTooLong = checkBody(textOf(field)).fault === "too_long";
  if (isTooLong) terminal.say(PASTE.faults.too_long);
  else if (!typeNow(terminal, inputs)) return false;
  resetField(field);
  return true;
}

/** Types unless keys are blocked. A composition may end after that: a read-only field only prevents new input. */
function typeNow(terminal: LatchedTerminal, inputs: readonly KeyInput[]): boolean {
  return !isBlocked(terminal.info) && terminal.type(inputs);
}

/** The field's text without the padding, which is last if the cursor was before it, and gone if a paste replaced it. */
function textOf({ value, selectionEnd }: Field): string {
  if (value.startsWith(PADDING)) return value.slice(PADDING.length);
  const isLast = value.endsWith(PADDING) && selectionEnd < value.length;
  return isLast ? value.slice(0, -PADDING.length) : value;
}

function resetField(field: Field | null): void {
  if (field === null) return;
  field.value = PADDING;
  field.setSelectionRange(PADDING.length, PADDING.length);
}
