/** Checks what the user wrote, a text or a form, by the wire's rules before it is sent. */
import { utf8Length } from "../async/encodings.ts";
import type { AskField, FieldValue } from "../protocol/ask.ts";
import { FORBIDDEN_CONTROLS, normalizeBody } from "../protocol/canonical.ts";
import { BODY_MAX_BYTES, DATA_MAX_BYTES } from "../protocol/limits.ts";
import { Body } from "../protocol/push.ts";

/** From this many bytes on, the field shows how long the text is. */
const SIZE_SHOWN_FROM_BYTES = BODY_MAX_BYTES * 0.8;

export interface BodyCheck {
  sendable: boolean;
  bytes: number;
  showSize: boolean;
  fault?: "too_long" | "controls";
}

export function checkBody(text: string): BodyCheck {
  const body = normalizeBody(text);
  const bytes = utf8Length(body);
  const showSize = bytes >= SIZE_SHOWN_FROM_BYTES;
  if (bytes > BODY_MAX_BYTES) return { sendable: false, bytes, showSize, fault: "too_long" };
  if (FORBIDDEN_CONTROLS.test(body)) return { sendable: false, bytes, showSize, fault: "controls" };
  return { sendable: body.trim() !== "" && Body.safeParse(text).success, bytes, showSize };
}

/** The raw value of a form field: a boolean for checkboxes, text for all others. */
export type RawValue = string | boolean;

export type FormFault = "required" | "number" | "controls" | "too_long";

type FormCheck =
  | { kind: "values"; values: Record<string, FieldValue> }
  | { kind: "invalid"; faults: Readonly<Record<string, FormFault>> };

/** Leaves room for the rest of the push's data. */
const VALUES_MAX_BYTES = DATA_MAX_BYTES - 64;

/** `commaIsDecimal`: the page's language writes fractions with a comma. */
export function checkForm(
  fields: readonly AskField[],
  raw: Readonly<Record<string, RawValue>>,
  { commaIsDecimal = false } = {},
): FormCheck {
  const values: Record<string, FieldValue> = {};
  const faults: Record<string, FormFault> = {};
  for (const field of fields) {
    const value = valueOf(field, { raw: raw[field.name], commaIsDecimal });
    if (typeof value === "object") faults[field.name] = value.fault;
    else if (value !== undefined) values[field.name] = value;
  }
  const bytes = utf8Length(JSON.stringify(values));
  if (bytes > VALUES_MAX_BYTES) faults[longest(fields, raw)] = "too_long";
  return Object.keys(faults).length === 0 ? { kind: "values", values } : { kind: "invalid", faults };
}

/** Undefined for an optional field left empty. */
function valueOf(
  field: AskField,
  { raw, commaIsDecimal }: { raw: RawValue | undefined; commaIsDecimal: boolean },
): FieldValue | { fault: FormFault } | undefined {
  if (field.type === "boolean") return raw === true;
  const entered = typeof raw === "string" ? raw.replace(/\r\n?/g, "\n") : "";
  // A password may begin or end with a blank.
  const text = field.secret ? entered : entered.trim();
  if (text === "") return field.optional === true ? undefined : { fault: "required" };
  if (field.type === "number") return numberOf(text, commaIsDecimal);
  return FORBIDDEN_CONTROLS.test(text) ? { fault: "controls" } : text;
}

/** Some keypads for numbers have a comma and no point. */
const DECIMAL_COMMA = /^[+-]?\d*,\d+$/;
/** 1,500 where a fraction is written with a point, and 1.500 where it has a comma, may be 1500 or one and a half. */
const AMBIGUOUS = { point: /^[+-]?[1-9]\d{0,2},\d{3}$/, comma: /^[+-]?[1-9]\d{0,2}\.\d{3}$/ };
/** 1.500.000 and 1.500,5, where a fraction is written with a comma. */
const GROUPED = /^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?$/;

function numberOf(text: string, commaIsDecimal: boolean): number | { fault: FormFault } {
  if (AMBIGUOUS[commaIsDecimal ? "comma" : "point"].test(text)) return { fault: "number" };
  const digits = commaIsDecimal && GROUPED.test(text) ? text.replaceAll(".", "") : text;
  const value = Number(DECIMAL_COMMA.test(digits) ? digits.replace(",", ".") : digits);
  return Number.isFinite(value) ? value : { fault: "number" };
}

function longest(fields: readonly AskField[], raw: Readonly<Record<string, RawValue>>): string {
  const length = ({ name }: AskField): number => String(raw[name] ?? "").length;
  return [...fields].sort((one, other) => length(other) - length(one))[0]?.name ?? "";
}
