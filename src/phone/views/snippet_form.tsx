/** Writes, renames or deletes one snippet. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { checkBody } from "../check_input.ts";
import { SNIPPET_NAME_MAX_CHARS, snippetName } from "../snippets.ts";
import type { Snippet } from "../storage.ts";
import { STRINGS } from "../strings.ts";

const { snippet: TEXT } = STRINGS;

interface Props {
  snippet: Snippet;
  isNew: boolean;
  onSave(snippet: Snippet): void;
  onDelete(): void;
  onBack(): void;
}

export function SnippetForm({ snippet, isNew, onSave, onDelete, onBack }: Props): JSX.Element {
  const first = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(snippet.name);
  const [text, setText] = useState(snippet.text);
  const canSave = checkBody(text).sendable;
  useEffect(() => first.current?.focus(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (canSave) onSave({ id: snippet.id, name: snippetName(name, text), text });
  };
  return (
    <form class="snippet-form" onSubmit={submit}>
      <h2 id="insert-heading">{isNew ? TEXT.headingNew : TEXT.heading}</h2>
      <label>
        {TEXT.name}
        <input
          ref={first}
          class="text-field"
          value={name}
          maxLength={SNIPPET_NAME_MAX_CHARS}
          placeholder={TEXT.namePlaceholder}
          autocomplete="off"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <label>
        {TEXT.text}
        <textarea
          class="text-field"
          rows={5}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={!canSave}>{TEXT.save}</button>
      <div class="snippet-actions">
        <button type="button" class="quiet" onClick={onBack}>{TEXT.back}</button>
        {!isNew && (
          <button
            type="button"
            class="quiet"
            onClick={() => confirm(TEXT.deleteAsk(snippet.name)) && onDelete()}
          >
            {TEXT.delete}
          </button>
        )}
      </div>
    </form>
  );
}
