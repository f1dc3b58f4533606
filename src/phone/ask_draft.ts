/** What the user has entered into a form or has ticked, as the question's draft; a secret field is left out of it. */
import type { AskField } from "../protocol/ask.ts";
import { parseJson } from "../protocol/json.ts";
import type { RawValue } from "./check_input.ts";

export type RawValues = Readonly<Record<string, RawValue>>;

/** Empty when nothing is entered. Drafts are stored unencrypted, so that no secret belongs in one. */
export function formDraft(fields: readonly AskField[], values: RawValues): string {
  const kept = fields.filter(({ name, secret }) => secret !== true && values[name]);
  return kept.length === 0
    ? ""
    : JSON.stringify(Object.fromEntries(kept.map(({ name }) => [name, values[name]])));
}

/** The values in a draft that the form still has a field for. */
export function formValues(fields: readonly AskField[], draft: string): RawValues {
  const entered = objectIn(draft);
  const values = fields.flatMap(({ name, type, options }): [string, RawValue][] => {
    const value = entered[name];
    if (type === "boolean") return typeof value === "boolean" ? [[name, value]] : [];
    const isKnown = typeof value === "string" && (options === undefined || options.includes(value));
    return isKnown ? [[name, value]] : [];
  });
  return Object.fromEntries(values);
}

/** Options that are ticked, and own words beside them. */
export interface Ticked {
  chosen: readonly string[];
  text: string;
}

export function tickedDraft({ chosen, text }: Ticked): string {
  return chosen.length === 0 && text === "" ? "" : JSON.stringify({ chosen, text });
}

/** A draft that is not one of ticks is the own words. */
export function tickedIn(options: readonly string[], draft: string): Ticked {
  const { chosen, text } = objectIn(draft);
  if (!Array.isArray(chosen) || typeof text !== "string") return { chosen: [], text: draft };
  return { chosen: options.filter((option) => chosen.includes(option)), text };
}

function objectIn(draft: string): Record<string, unknown> {
  const value = parseJson(draft)?.value;
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
