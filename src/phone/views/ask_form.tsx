/** What a person answers a question with: big buttons, boxes to tick, words, or a form. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Answer, AskData } from "../../protocol/ask.ts";
import { checkBody } from "../body_check.ts";
import { STRINGS } from "../strings.ts";
import { AskFieldsForm } from "./ask_fields.tsx";
import { Tick } from "./tick.tsx";

const { question: WORDS } = STRINGS;

export interface AskFormProps {
  /** The question's id. */
  id: string;
  ask: AskData;
  draft: string;
  onDraft(text: string): void;
  onAnswer(answer: Answer): void;
}

export function AskForm(props: AskFormProps): JSX.Element {
  const { id, ask, onAnswer } = props;
  if (ask.kind === "input") {
    return (
      <AskFieldsForm
        id={id}
        fields={ask.fields}
        onValues={(values) => onAnswer({ kind: "values", values })}
      />
    );
  }
  if (ask.kind === "prompt" || ask.options === undefined) return <OwnWords {...props} />;
  const choose = (choices: string[]): void => onAnswer({ kind: "choices", choices });
  return (
    <>
      {ask.multiple === true
        ? <Several id={id} options={ask.options} onChoose={choose} />
        : <One id={id} options={ask.options} onChoose={choose} />}
      <details class="own-words" open={props.draft !== ""}>
        <summary>{WORDS.ownWords}</summary>
        <OwnWords {...props} />
      </details>
    </>
  );
}

interface ChoiceProps {
  id: string;
  options: readonly string[];
  onChoose(choices: string[]): void;
}

function One({ id, options, onChoose }: ChoiceProps): JSX.Element {
  return (
    <div class="options" role="group" aria-labelledby={`question-${id}`}>
      {options.map((option) => (
        <button
          key={option}
          type="button"
          class="secondary option"
          onClick={() => onChoose([option])}
        >
          {option}
        </button>
      ))}
    </div>
  );
}

function Several({ id, options, onChoose }: ChoiceProps): JSX.Element {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (option: string): void => {
    const next = new Set(chosen);
    if (!next.delete(option)) next.add(option);
    setChosen(next);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (chosen.size > 0) onChoose(options.filter((option) => chosen.has(option)));
  };
  return (
    <form class="options" onSubmit={submit}>
      <fieldset aria-labelledby={`question-${id}`}>
        {options.map((option) => (
          <Tick
            key={option}
            label={option}
            checked={chosen.has(option)}
            onToggle={() => toggle(option)}
          />
        ))}
      </fieldset>
      <button type="submit" class="primary" disabled={chosen.size === 0}>{WORDS.send}</button>
    </form>
  );
}

function OwnWords({ id, draft, onDraft, onAnswer }: AskFormProps): JSX.Element {
  const check = checkBody(draft);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (check.sendable) onAnswer({ kind: "text", text: draft });
  };
  return (
    <form class="words" onSubmit={submit}>
      <textarea
        rows={3}
        value={draft}
        aria-label={WORDS.answerLabel}
        aria-describedby={`question-${id}`}
        aria-invalid={check.fault !== undefined}
        onInput={(event) => onDraft(event.currentTarget.value)}
      />
      {check.fault && <p class="field-fault" role="alert">{WORDS.faults[check.fault]}</p>}
      <button type="submit" class="primary" disabled={!check.sendable}>{WORDS.send}</button>
    </form>
  );
}
