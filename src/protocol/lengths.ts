/** Checks of the length of texts and lists from untrusted senders. */
import * as z from "zod/mini";

/**
 * At most this many UTF-16 code units or items. zod's own check also compares the `length` of an object sent in place
 * of a text, and throws during parsing if that length is itself an object.
 */
export function maxLength(maximum: number): ReturnType<typeof z.maxLength> {
  return ofTextAndList(z.maxLength(maximum));
}

/** At least this many UTF-16 code units or items. */
export function minLength(minimum: number): ReturnType<typeof z.minLength> {
  return ofTextAndList(z.minLength(minimum));
}

function ofTextAndList<Check extends z.core.$ZodCheck>(check: Check): Check {
  check._zod.def.when = ({ value }) => typeof value === "string" || Array.isArray(value);
  return check;
}
