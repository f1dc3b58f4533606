/** What a person put into a form, as the values that the question asks for. */
import type { AskField, FieldValue } from "../protocol/ask.ts";
import { FORBIDDEN_CONTROLS } from "../protocol/canonical.ts";
import { DATA_MAX_BYTES } from "../protocol/limits.ts";

/** What stands in a field: text of every field but the boolean ones. */
export type RawValue = string | boolean;

export type FormFault = "required" | "number" | "controls" | "too_long";

export type FormAnswer =
  | { kind: "values"; values: Record<string, FieldValue> }
  | { kind: "faulty"; faults: Readonly<Record<string, FormFault>> };

/** Room for what stands around the values in the push's data. */
const VALUES_MAX_BYTES = DATA_MAX_BYTES - 64;

export function formAnswer(fields: readonly AskField[], raw: Readonly<Record<string, RawValue>>): FormAnswer {
  const values: Record<string, FieldValue> = {};
  const faults: Record<string, FormFault> = {};
  for (const field of fields) {
    const found = valueOf(field, raw[field.name]);
    if (typeof found === "object") faults[field.name] = found.fault;
    else if (found !== undefined) values[field.name] = found;
  }
  const bytes = new TextEncoder().encode(JSON.stringify(values)).length;
  if (bytes > VALUES_MAX_BYTES) faults[longest(fields, raw)] = "too_long";
  return Object.keys(faults).length === 0 ? { kind: "values", values } : { kind: "faulty", faults };
}

/** Undefined for a field that is left out. */
function valueOf(field: AskField, raw: RawValue | undefined): FieldValue | { fault: FormFault } | undefined {
  if (field.type === "boolean") return raw === true;
  const text = typeof raw === "string" ? raw.replace(/\r\n?/g, "\n").trim() : "";
  if (text === "") return field.optional === true ? undefined : { fault: "required" };
  if (field.type === "number") return numberOf(text);
  return FORBIDDEN_CONTROLS.test(text) ? { fault: "controls" } : text;
}

function numberOf(text: string): number | { fault: FormFault } {
  const value = Number(text);
  return Number.isFinite(value) ? value : { fault: "number" };
}

function longest(fields: readonly AskField[], raw: Readonly<Record<string, RawValue>>): string {
  const length = ({ name }: AskField): number => String(raw[name] ?? "").length;
  return [...fields].sort((one, other) => length(other) - length(one))[0]?.name ?? "";
}
