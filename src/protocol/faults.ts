/** Describes what each rejected field would accept, for HTTP problems and malformed frames. */
import type * as z from "zod/mini";
import { jsonPointer } from "./errors.ts";
import { FIELD_FAULTS_MAX } from "./limits.ts";

/** A bad field: its JSON pointer (RFC 6901, empty for the whole value) and what it accepts. Never contains the value. */
export interface FieldFault {
  pointer: string;
  detail: string;
}

/** One fault per bad field, at most `FIELD_FAULTS_MAX`. */
export function fieldFaults(error: z.core.$ZodError): FieldFault[] {
  return error.issues.slice(0, FIELD_FAULTS_MAX).map((issue) => ({
    pointer: jsonPointer(issue.path),
    detail: accepted(issue),
  }));
}

/** The same on one line. */
export function describeFaults(error: z.core.$ZodError): string {
  return fieldFaults(error).map(({ pointer, detail }) => `${pointer || "/"}: ${detail}`).join("; ");
}

/** zod/mini has one generic message for every issue; a schema's own message is used unchanged. */
function accepted(issue: z.core.$ZodIssue): string {
  if (issue.message !== "Invalid input") return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return `must be ${article(issue.expected)}`;
    case "too_small":
      return `at least ${counted(issue.minimum, issue.origin)}`;
    case "too_big":
      return `at most ${counted(issue.maximum, issue.origin)}`;
    case "invalid_value":
      return `one of ${issue.values.map(String).join(", ")}`;
    case "invalid_format":
      return `text of the form ${issue.format}`;
    case "unrecognized_keys":
      return "known keys only";
    default:
      return "not accepted";
  }
}

function article(expected: string): string {
  const named = expected === "int" ? "integer" : expected === "record" ? "object" : expected;
  return `${/^[aeiou]/.test(named) ? "an" : "a"} ${named}`;
}

function counted(count: number | bigint, origin: string): string {
  const one = Number(count) === 1;
  if (origin === "string") return one ? "1 character" : `${count} characters`;
  if (origin === "array") return one ? "1 entry" : `${count} entries`;
  return String(count);
}
