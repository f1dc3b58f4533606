/** What can be put into a message: the user's snippets, to edit and search, and earlier texts. Sends nothing. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { randomUuid } from "../../async/encodings.ts";
import { checkBody } from "../check_input.ts";
import { isReusable } from "../receipt_text.ts";
import { SESSION_TEXT } from "../session_text.ts";
import type { SessionName } from "../sessions.ts";
import { messagesOf, type PhoneState } from "../state.ts";
import type { Snippet } from "../storage.ts";
import { Icon, SearchInput } from "./shared.tsx";

const { insert: TEXT, snippet: SNIPPET } = SESSION_TEXT;
/** With fewer texts than this, there is no search field. */
const SEARCH_FROM = 6;
/** The list shows this many texts; a search finds the others. */
const SENT_SHOWN_MAX = 100;

/** Where the texts come from. */
export interface InsertTexts {
  /** The texts that were sent to this session, newest first. */
  sent(): readonly string[];
  /** The relay may have earlier messages. */
  mayHaveMore: boolean;
  readOlder(): void;
  readSnippets(): Promise<Snippet[]>;
  writeSnippets(snippets: readonly Snippet[]): Promise<void>;
}

interface Props {
  draft: string;
  texts: InsertTexts;
  /** Further actions on the message. */
  children?: ComponentChildren;
  onInsert(text: string): void;
  onClose(): void;
}

export function InsertSheet({ draft, texts, children, onInsert, onClose }: Props): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const { snippets, problem, change } = useSnippets(texts);
  const [edited, edit] = useState<Snippet>();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  /** Inserts before closing: that focuses the field, and Chromium then reports its cursor at the beginning. */
  const insert = (text: string): void => {
    onInsert(text);
    dialog.current?.close();
  };
  const save = (change_: (before: readonly Snippet[]) => Snippet[]): void => {
    edit(undefined);
    change(change_);
  };
  return (
    <dialog class="sheet insert-sheet" ref={dialog} aria-labelledby="insert-heading" onClose={onClose}>
      {edited !== undefined
        ? (
          <SnippetForm
            snippet={edited}
            isNew={!snippets.some(({ id }) => id === edited.id)}
            onSave={(snippet) => save((before) => withSnippet(before, snippet))}
            onDelete={() => save((before) => before.filter(({ id }) => id !== edited.id))}
            onBack={() => edit(undefined)}
          />
        )
        : (
          <>
            <h2 id="insert-heading">{TEXT.heading}</h2>
            <div class="choices">
              {children}
              <NewSnippet draft={draft} count={snippets.length} onNew={edit} />
            </div>
            <p class="composer-note" role="status" data-fault="true">{problem}</p>
            <Texts snippets={snippets} texts={texts} onInsert={insert} onEdit={edit} />
            <button type="button" class="quiet" onClick={() => dialog.current?.close()}>{TEXT.close}</button>
          </>
        )}
    </dialog>
  );
}

interface KeptSnippets {
  snippets: readonly Snippet[];
  problem: string;
  /** Applies a change to the snippets as stored at that time: another page may have changed them. */
  change(how: (before: readonly Snippet[]) => Snippet[]): void;
}

function useSnippets({ readSnippets, writeSnippets }: InsertTexts): KeptSnippets {
  const [snippets, setSnippets] = useState<readonly Snippet[]>([]);
  const [problem, setProblem] = useState("");
  const attempt = async (work: () => Promise<readonly Snippet[]>): Promise<void> => {
    try {
      setSnippets(await work());
      setProblem("");
    } catch {
      setProblem(SNIPPET.notKept);
    }
  };
  useEffect(() => void attempt(readSnippets), []);
  const change: KeptSnippets["change"] = (how) =>
    void attempt(async () => {
      const changed = how(await readSnippets());
      await writeSnippets(changed);
      return changed;
    });
  return { snippets, problem, change };
}

interface NewSnippetProps {
  draft: string;
  count: number;
  onNew(snippet: Snippet): void;
}

function NewSnippet({ draft, count, onNew }: NewSnippetProps): JSX.Element {
  if (count >= SNIPPETS_MAX) return <p class="hint">{SNIPPET.full(SNIPPETS_MAX)}</p>;
  const text = draft.trim();
  return (
    <button
      type="button"
      class="secondary"
      onClick={() => onNew({ id: randomUuid(), name: "", text })}
    >
      {text === "" ? TEXT.create : TEXT.saveDraft}
    </button>
  );
}

interface TextsProps {
  snippets: readonly Snippet[];
  texts: InsertTexts;
  onInsert(text: string): void;
  onEdit(snippet: Snippet): void;
}

function Texts({ snippets, texts, onInsert, onEdit }: TextsProps): JSX.Element {
  const [wanted, search] = useState("");
  const sent = texts.sent();
  const ownFound = snippets.filter(({ name, text }) => isFound(wanted, [name, text]));
  const sentFound = sent.filter((text) => isFound(wanted, [text])).slice(0, SENT_SHOWN_MAX);
  const note = (found: readonly unknown[], empty: string): string =>
    found.length > 0 ? "" : wanted === "" ? empty : TEXT.nothingFound;
  return (
    <>
      {snippets.length + sent.length >= SEARCH_FROM && (
        <SearchInput label={TEXT.search} value={wanted} onInput={search} />
      )}
      <OwnTexts snippets={ownFound} note={note(ownFound, TEXT.noSnippets)} {...{ onInsert, onEdit }} />
      <TextGroup name="sent" heading={TEXT.sent} note={note(sentFound, TEXT.noSent)}>
        {sentFound.map((text) => (
          <li key={text} class="insert-text">
            <button type="button" class="insert-choice" onClick={() => onInsert(text)}>
              <span>{text}</span>
            </button>
          </li>
        ))}
      </TextGroup>
      {texts.mayHaveMore && (
        <button type="button" class="secondary" onClick={texts.readOlder}>{TEXT.earlier}</button>
      )}
    </>
  );
}

interface OwnTextsProps extends Omit<TextsProps, "texts"> {
  note: string;
}

function OwnTexts({ snippets, note, onInsert, onEdit }: OwnTextsProps): JSX.Element {
  return (
    <TextGroup name="snippets" heading={TEXT.snippets} note={note}>
      {snippets.map((snippet) => (
        <li key={snippet.id} class="insert-text">
          <button type="button" class="insert-choice" onClick={() => onInsert(snippet.text)}>
            <strong>{snippet.name}</strong>
            {snippet.text !== snippet.name && <span>{snippet.text}</span>}
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={TEXT.change(snippet.name)}
            onClick={() => onEdit(snippet)}
          >
            <Icon name="pencil" />
          </button>
        </li>
      ))}
    </TextGroup>
  );
}

interface TextGroupProps {
  name: string;
  heading: string;
  /** Why there is nothing; empty if there is something. */
  note: string;
  children: ComponentChildren;
}

function TextGroup({ name, heading, note, children }: TextGroupProps): JSX.Element {
  return (
    <section aria-labelledby={`insert-${name}`}>
      <h3 id={`insert-${name}`}>{heading}</h3>
      {note === "" ? <ul class="insert-texts">{children}</ul> : <p class="hint">{note}</p>}
    </section>
  );
}

interface SnippetFormProps {
  snippet: Snippet;
  isNew: boolean;
  onSave(snippet: Snippet): void;
  onDelete(): void;
  onBack(): void;
}

/** Writes, renames or deletes one snippet. */
function SnippetForm({ snippet, isNew, onSave, onDelete, onBack }: SnippetFormProps): JSX.Element {
  const first = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(snippet.name);
  const [text, setText] = useState(snippet.text);
  const canSave = checkBody(text).sendable;
  useLayoutEffect(() => first.current?.focus(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (canSave) onSave({ id: snippet.id, name: snippetName(name, text), text });
  };
  return (
    <form class="snippet-form" onSubmit={submit}>
      <h2 id="insert-heading">{isNew ? SNIPPET.headingNew : SNIPPET.heading}</h2>
      <label>
        {SNIPPET.name}
        <input
          ref={first}
          class="text-field"
          value={name}
          maxLength={SNIPPET_NAME_MAX_CHARS}
          placeholder={SNIPPET.namePlaceholder}
          autocomplete="off"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <label>
        {SNIPPET.text}
        <textarea
          class="text-field"
          rows={5}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={!canSave}>{SNIPPET.save}</button>
      <div class="snippet-actions">
        <button type="button" class="quiet" onClick={onBack}>{SNIPPET.back}</button>
        {!isNew && (
          <button
            type="button"
            class="quiet"
            onClick={() => confirm(SNIPPET.deleteAsk(snippet.name)) && onDelete()}
          >
            {SNIPPET.delete}
          </button>
        )}
      </div>
    </form>
  );
}

/** All snippets are read and written together, and more would be hard to find. */
export const SNIPPETS_MAX = 100;
export const SNIPPET_NAME_MAX_CHARS = 60;

/** Adds a snippet at the front, or replaces the one with its id in place. */
export function withSnippet(snippets: readonly Snippet[], snippet: Snippet): Snippet[] {
  const isKnown = snippets.some(({ id }) => id === snippet.id);
  if (!isKnown) return [snippet, ...snippets].slice(0, SNIPPETS_MAX);
  return snippets.map((one) => one.id === snippet.id ? snippet : one);
}

/** The first line with text, for a snippet without a name. */
export function snippetName(name: string, text: string): string {
  const line = name.trim() || text.split("\n").find((one) => one.trim() !== "")?.trim() || "";
  return Array.from(line).slice(0, SNIPPET_NAME_MAX_CHARS).join("");
}

/** True if every word of `wanted` is in one of the texts. */
export function isFound(wanted: string, texts: readonly string[]): boolean {
  const all = texts.join("\n").toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

/** The draft with `text` in place of its selection, and the new position of the cursor. */
export function withInserted(
  draft: string,
  { text, start, end }: { text: string; start: number; end: number },
): { draft: string; cursor: number } {
  if (draft.trim() === "") return { draft: text, cursor: text.length };
  const [before, after] = [draft.slice(0, start), draft.slice(end)];
  const lead = /\S$/.test(before) ? " " : "";
  const trail = /^\S/.test(after) ? " " : "";
  return { draft: `${before}${lead}${text}${trail}${after}`, cursor: start + lead.length + text.length };
}

/** The texts that were sent to the session before, newest first, each once. */
export function sentTexts(state: PhoneState, name: SessionName): string[] {
  const own = messagesOf(state, name).filter((message) =>
    isReusable(message) && message.inReplyTo === undefined && message.body.trim() !== ""
  );
  return [...new Set(own.map(({ body }) => body).reverse())];
}
