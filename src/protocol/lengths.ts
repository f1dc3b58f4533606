/** Limits on the length of a text or a list that anybody may have sent. */
import * as z from "zod/mini";

/**
 * At most so many UTF-16 code units or items. zod's own check also compares the `length` of an object that stands where
 * a text should: a length that is itself an object throws there, in the middle of parsing.
 */
export function maxLength(maximum: number): ReturnType<typeof z.maxLength> {
  return ofTextAndList(z.maxLength(maximum));
}

/** At least so many UTF-16 code units or items. */
export function minLength(minimum: number): ReturnType<typeof z.minLength> {
  return ofTextAndList(z.minLength(minimum));
}

function ofTextAndList<Check extends z.core.$ZodCheck>(check: Check): Check {
  check._zod.def.when = ({ value }) => typeof value === "string" || Array.isArray(value);
  return check;
}
