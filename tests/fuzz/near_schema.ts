/** Values that nearly fit a schema: most fields are valid, and some are missing, of another type or just beyond a limit. */
import fc from "fast-check";
import * as z from "zod/mini";
import { anyText } from "./cases.ts";

interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  $ref?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
}

/** JSON values that throw when a program treats them as text, a list or a number, or that look like one. */
const NO_PRIMITIVE = { toString: 0, valueOf: 0 };
const UNLIKE_THEIR_LOOKS: readonly unknown[] = [
  NO_PRIMITIVE,
  { length: NO_PRIMITIVE },
  { size: NO_PRIMITIVE },
  { length: 3 },
  [NO_PRIMITIVE],
];
export const anyValue = fc.oneof(
  fc.anything({ withNullPrototype: true, withObjectString: true, maxDepth: 3 }),
  fc.constantFrom(...UNLIKE_THEIR_LOOKS),
);
/** Names that JavaScript objects already have, and other odd ones. */
const oddNames = fc.constantFrom("__proto__", "constructor", "toString", "", "\u0000", "length");
/** How many valid values there are for each invalid one. */
const RIGHT = 12;

/** Longer lists only make the cases slower. */
const LONG = 3;

export function nearSchema(schema: z.ZodMiniType): fc.Arbitrary<unknown> {
  return near(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema);
}

function near(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: right(schema), weight: RIGHT }, { arbitrary: anyValue, weight: 1 });
}

function right(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) return fc.oneof(...choices.map(near));
  switch (schema.type) {
    case "object":
      return objectOf(schema);
    case "array":
      return fc.array(near(schema.items ?? {}), { maxLength: LONG });
    case "string":
      return textOf(schema);
    case "integer":
    case "number":
      return numberOf(schema);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return fc.oneof(fc.jsonValue(), anyValue);
  }
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, near(one)]));
  const names = required.filter((name) => Object.hasOwn(fields, name));
  const whole = fc.record(fields, { requiredKeys: names as never[] });
  const part = fc.record(fields, { requiredKeys: [] });
  const others = typeof additionalProperties === "object" ? near(additionalProperties) : anyValue;
  const more = fc.dictionary(fc.oneof(anyText, oddNames), others, { maxKeys: 3 });
  return fc.oneof(
    { arbitrary: whole, weight: RIGHT },
    { arbitrary: part, weight: 1 },
    { arbitrary: fc.tuple(whole, more).map(([known, extra]) => ({ ...known, ...extra })), weight: 2 },
  );
}

function textOf({ pattern, minLength = 0, maxLength }: JsonSchema): fc.Arbitrary<unknown> {
  const limits = [minLength - 1, minLength, ...(maxLength === undefined ? [] : [maxLength, maxLength + 1])];
  const edges = limits.filter((length) => length >= 0).map((length) => "é".repeat(length));
  const matching = pattern === undefined ? anyText : fc.stringMatching(new RegExp(plainPattern(pattern)));
  return fc.oneof(
    { arbitrary: matching, weight: RIGHT },
    { arbitrary: anyText, weight: 2 },
    { arbitrary: fc.constantFrom(...edges), weight: 1 },
  );
}

/** Removes lookarounds and property escapes, which fast-check does not support: the texts then only nearly match. */
function plainPattern(pattern: string): string {
  return pattern.replace(/\(\?<?[=!][^)]*\)/g, "").replace(/\\[pP]\{[^}]*\}/g, "\\w");
}

function numberOf({ type, minimum, maximum }: JsonSchema): fc.Arbitrary<unknown> {
  const edges = [minimum ?? 0, maximum ?? 0].flatMap((edge) => [edge - 1, edge, edge + 1]);
  const [min, max] = [minimum ?? -1_000_000, maximum ?? 2_000_000_000_000];
  const inside = type === "integer" ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true });
  return fc.oneof(
    { arbitrary: inside, weight: RIGHT },
    fc.constantFrom(...edges, Number.NaN, Infinity, -0, 2 ** 53, 1e308, 0.5),
  );
}
