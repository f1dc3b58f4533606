/** The controls for answering a question: buttons, checkboxes, free text or a form; and their input as its draft. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Answer, AskData, AskField, FieldValue } from "../../protocol/ask.ts";
import { parseJson } from "../../protocol/json.ts";
import { checkBody, checkForm, type FormFault, type RawValue } from "../check_input.ts";
import { formatNumber } from "../format_time.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { STRINGS } from "../strings.ts";
import { keepFocus } from "./kept_focus.ts";
import { Checkbox } from "./shared.tsx";

const { question: TEXT } = STRINGS;
const { form: FORM } = SESSION_TEXT;
const { faults: FAULTS } = FORM;

interface AskFormProps {
  /** The question's id. */
  id: string;
  ask: AskData;
  draft: string;
  onDraft(text: string): void;
  onAnswer(answer: Answer): void;
}

export function AskForm(props: AskFormProps): JSX.Element {
  const { id, ask, draft, onDraft, onAnswer } = props;
  if (ask.kind === "input") {
    return (
      <FieldsForm
        {...{ id, draft, onDraft }}
        fields={ask.fields}
        onValues={(values) => onAnswer({ kind: "values", values })}
      />
    );
  }
  if (ask.kind === "prompt" || ask.options === undefined) return <FreeText {...props} />;
  const { options } = ask;
  const choose = (choices: string[]): void => onAnswer({ kind: "choices", choices });
  if (ask.multiple !== true) {
    return (
      <>
        <SingleChoice id={id} options={options} onChoose={choose} />
        <OwnAnswer {...props} />
      </>
    );
  }
  const ticked = tickedIn(options, draft);
  const send = (): void => onAnswer(tickedAnswer(ticked));
  return (
    <>
      <MultipleChoice
        {...{ id, options }}
        {...ticked}
        onChange={(chosen) => onDraft(tickedDraft({ ...ticked, chosen }))}
        onSend={send}
      />
      <OwnAnswer
        {...props}
        draft={ticked.text}
        onDraft={(text) => onDraft(tickedDraft({ ...ticked, text }))}
        onAnswer={send}
      />
    </>
  );
}

/** Initially open if there is a draft; after that, the user opens and closes it. */
function OwnAnswer(props: AskFormProps): JSX.Element {
  const [isOpen, setOpen] = useState(props.draft !== "");
  return (
    <details
      class="own-answer"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{TEXT.ownAnswer}</summary>
      <FreeText {...props} />
    </details>
  );
}

interface ChoiceProps {
  id: string;
  options: readonly string[];
}

interface SingleProps extends ChoiceProps {
  onChoose(choices: string[]): void;
}

function SingleChoice({ id, options, onChoose }: SingleProps): JSX.Element {
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

interface MultipleProps extends ChoiceProps, Ticked {
  onChange(chosen: string[]): void;
  onSend(): void;
}

function MultipleChoice({ id, options, chosen, text, onChange, onSend }: MultipleProps): JSX.Element {
  const toggle = (toggled: string): void =>
    onChange(options.filter((option) => chosen.includes(option) !== (option === toggled)));
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isSendable) onSend();
  };
  const isSendable = chosen.length > 0 &&
    (text.trim() === "" || checkBody(textWith({ chosen, text })).sendable);
  return (
    <form class="options" onSubmit={submit}>
      <fieldset aria-labelledby={`question-${id}`}>
        {options.map((option) => (
          <Checkbox
            key={option}
            label={option}
            checked={chosen.includes(option)}
            onToggle={() => toggle(option)}
          />
        ))}
      </fieldset>
      <button type="submit" class="primary" disabled={!isSendable}>{TEXT.send}</button>
    </form>
  );
}

function FreeText({ id, draft, onDraft, onAnswer }: AskFormProps): JSX.Element {
  const check = checkBody(draft);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (check.sendable) onAnswer({ kind: "text", text: draft });
  };
  return (
    <form class="free-text" onSubmit={submit}>
      <textarea
        rows={3}
        value={draft}
        aria-label={TEXT.answerLabel}
        aria-describedby={`question-${id}`}
        aria-invalid={check.fault !== undefined}
        onInput={(event) => onDraft(event.currentTarget.value)}
      />
      {check.fault && <p class="field-fault" role="alert">{FAULTS[check.fault]}</p>}
      <button type="submit" class="primary" disabled={!check.sendable}>{TEXT.send}</button>
    </form>
  );
}

interface FieldsFormProps {
  /** The question's id. */
  id: string;
  fields: readonly AskField[];
  draft: string;
  onDraft(text: string): void;
  onValues(values: Record<string, FieldValue>): void;
}

function FieldsForm({ id, fields, draft, onDraft, onValues }: FieldsFormProps): JSX.Element {
  const [raw, setRaw] = useState<RawValues>(() => formValues(fields, draft));
  const [faults, setFaults] = useState<Readonly<Record<string, FormFault>>>({});
  const submit = (event: Event): void => {
    event.preventDefault();
    const check = checkForm(fields, raw, { commaIsDecimal: formatNumber(0.5).includes(",") });
    if (check.kind === "values") onValues(check.values);
    else {
      setFaults(check.faults);
      const first = fields.find(({ name }) => ownIn(check.faults, name));
      if (first !== undefined) document.getElementById(`${id}-${first.name}`)?.focus();
    }
  };
  return (
    <form class="fields" onSubmit={submit} noValidate aria-labelledby={`question-${id}`}>
      {fields.map((field) => (
        <Field
          key={field.name}
          id={`${id}-${field.name}`}
          field={field}
          value={ownIn(raw, field.name)}
          fault={ownIn(faults, field.name)}
          onValue={(value) => {
            const changed = { ...raw, [field.name]: value };
            setRaw(changed);
            onDraft(formDraft(fields, changed));
            setFaults({});
          }}
        />
      ))}
      <button type="submit" class="primary">{TEXT.send}</button>
    </form>
  );
}

interface FieldProps {
  id: string;
  field: AskField;
  value: RawValue | undefined;
  fault: FormFault | undefined;
  onValue(value: RawValue): void;
}

function Field(props: FieldProps): JSX.Element {
  const { id, field, value, fault, onValue } = props;
  const label = field.label ?? field.name;
  if (field.type === "boolean") {
    return <Checkbox label={label} checked={value === true} onToggle={() => onValue(value !== true)} />;
  }
  return (
    <div class="form-field">
      <label for={id}>
        {label}
        {field.optional === true && <span class="optional">{TEXT.optional}</span>}
      </label>
      <Control {...props} />
      {fault && <p id={`${id}-fault`} class="field-fault" role="alert">{FAULTS[fault]}</p>}
    </div>
  );
}

function Control({ id, field, value, fault, onValue }: FieldProps): JSX.Element {
  const common = {
    id,
    value: String(value ?? ""),
    "aria-invalid": fault !== undefined,
    "aria-describedby": fault && `${id}-fault`,
  };
  if (field.type === "choice") {
    return (
      <select {...common} onChange={(event) => onValue(event.currentTarget.value)}>
        <option value="">{TEXT.noChoice}</option>
        {field.options?.map((option) => <option key={option} value={option}>{option}</option>)}
      </select>
    );
  }
  const onInput = (event: { currentTarget: HTMLInputElement }): void => onValue(event.currentTarget.value);
  if (field.secret === true) {
    return <input {...common} type="password" autocomplete="off" onInput={onInput} />;
  }
  const text = { ...common, type: "text", autocomplete: "off", onInput } as const;
  if (field.type !== "number") return <input {...text} />;
  return (
    <div class="number-field">
      <input {...text} inputMode="decimal" />
      <button
        type="button"
        class="secondary"
        aria-label={`${FORM.changeSign}: ${field.label ?? field.name}`}
        aria-controls={id}
        onPointerDown={keepFocus}
        onClick={() => onValue(withOtherSign(common.value))}
      >
        ±
      </button>
    </div>
  );
}

/** An iPhone's keypad for numbers has no minus sign. */
export function withOtherSign(text: string): string {
  const [, sign, digits = ""] = /^\s*([-−+]?)(.*)$/s.exec(text) ?? [];
  return sign === "-" || sign === "−" ? digits : `-${digits}`;
}

/** A field may have the name of something that every object inherits, such as `constructor`. */
export function ownIn<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** What the user has entered into a form. */
type RawValues = Readonly<Record<string, RawValue>>;

/** The draft of a form; empty if nothing is entered. It has no secrets, because drafts are stored unencrypted. */
export function formDraft(fields: readonly AskField[], values: RawValues): string {
  const kept = fields.filter(({ name, secret }) => secret !== true && ownIn(values, name));
  return kept.length === 0
    ? ""
    : JSON.stringify(Object.fromEntries(kept.map(({ name }) => [name, values[name]])));
}

/** The values in a draft that the form still has a field for. */
export function formValues(fields: readonly AskField[], draft: string): RawValues {
  const entered = objectIn(draft);
  const values = fields.flatMap(({ name, type, options }): [string, RawValue][] => {
    const value = ownIn(entered, name);
    if (type === "boolean") return typeof value === "boolean" ? [[name, value]] : [];
    const isKnown = typeof value === "string" && (options === undefined || options.includes(value));
    return isKnown ? [[name, value]] : [];
  });
  return Object.fromEntries(values);
}

/** The ticked options, and the user's own text. */
interface Ticked {
  chosen: readonly string[];
  text: string;
}

export function tickedDraft({ chosen, text }: Ticked): string {
  return chosen.length === 0 && text === "" ? "" : JSON.stringify({ chosen, text });
}

/** Parses a draft. If it is not one of `tickedDraft`, all of it is the user's own text. */
export function tickedIn(options: readonly string[], draft: string): Ticked {
  const { chosen, text } = objectIn(draft);
  if (!Array.isArray(chosen) || typeof text !== "string") return { chosen: [], text: draft };
  return { chosen: options.filter((option) => chosen.includes(option)), text };
}

/** Everything entered in the form, whichever Send button is pressed. */
export function tickedAnswer({ chosen, text }: Ticked): Answer {
  if (text.trim() === "") return { kind: "choices", choices: [...chosen] };
  return { kind: "text", text: textWith({ chosen, text }) };
}

function textWith({ chosen, text }: Ticked): string {
  return chosen.length === 0 ? text : `${chosen.join(", ")}\n${text}`;
}

function objectIn(draft: string): Record<string, unknown> {
  const value = parseJson(draft)?.value;
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
