/** The form of a question that asks for named values. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AskField, FieldValue } from "../../protocol/ask.ts";
import { formAnswer, type FormFault, type RawValue } from "../form_answer.ts";
import { STRINGS } from "../strings.ts";
import { Tick } from "./tick.tsx";

const { question: WORDS } = STRINGS;

interface Props {
  /** The question's id. */
  id: string;
  fields: readonly AskField[];
  onValues(values: Record<string, FieldValue>): void;
}

export function AskFieldsForm({ id, fields, onValues }: Props): JSX.Element {
  const [raw, setRaw] = useState<Readonly<Record<string, RawValue>>>({});
  const [faults, setFaults] = useState<Readonly<Record<string, FormFault>>>({});
  const submit = (event: Event): void => {
    event.preventDefault();
    const answer = formAnswer(fields, raw);
    if (answer.kind === "values") onValues(answer.values);
    else setFaults(answer.faults);
  };
  return (
    <form class="fields" onSubmit={submit} noValidate aria-labelledby={`question-${id}`}>
      {fields.map((field) => (
        <Field
          key={field.name}
          id={`${id}-${field.name}`}
          field={field}
          value={raw[field.name]}
          fault={faults[field.name]}
          onValue={(value) => {
            setRaw({ ...raw, [field.name]: value });
            setFaults({});
          }}
        />
      ))}
      <button type="submit" class="primary">{WORDS.send}</button>
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
    return <Tick label={label} checked={value === true} onToggle={() => onValue(value !== true)} />;
  }
  return (
    <div class="form-field">
      <label for={id}>
        {label}
        {field.optional === true && <span class="optional">{WORDS.optional}</span>}
      </label>
      <Control {...props} />
      {fault && <p id={`${id}-fault`} class="field-fault" role="alert">{WORDS.faults[fault]}</p>}
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
        <option value="">{WORDS.noChoice}</option>
        {field.options?.map((option) => <option key={option} value={option}>{option}</option>)}
      </select>
    );
  }
  const onInput = (event: { currentTarget: HTMLInputElement }): void => onValue(event.currentTarget.value);
  if (field.secret === true) {
    return <input {...common} type="password" autocomplete="off" onInput={onInput} />;
  }
  const inputMode = field.type === "number" ? "decimal" : "text";
  return <input {...common} type="text" inputMode={inputMode} autocomplete="off" onInput={onInput} />;
}
