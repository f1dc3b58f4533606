/** The wire's error table (RFC 9457): each stable `code` with its HTTP status and title, the close codes, and what rejected fields accept. */
import * as z from "zod/mini";
import { FIELD_FAULTS_MAX } from "./limits.ts";

export const WIRE_ERRORS = {
  invalid_push: { status: 400, title: "The push has bad fields" },
  invalid_request: { status: 400, title: "The request has bad fields" },
  unauthenticated: { status: 401, title: "An API key is needed" },
  missing_scope: { status: 403, title: "The key lacks a scope" },
  wrong_role: { status: 403, title: "The key's role may not do this" },
  hook_revoked: { status: 403, title: "The hook was revoked" },
  unknown_device: { status: 404, title: "No such device" },
  unknown_push: { status: 404, title: "No such push" },
  unknown_hook: { status: 404, title: "No such hook" },
  unknown_pairing: { status: 404, title: "No such pairing code" },
  not_found: { status: 404, title: "No such resource" },
  method_not_allowed: { status: 405, title: "The resource does not take this method" },
  id_reused: { status: 409, title: "The id was used with different content" },
  ask_closed: { status: 409, title: "The question is closed" },
  ambiguous_session: { status: 409, title: "Several devices have a session with this name" },
  too_large: { status: 413, title: "The request is too large" },
  unsupported_media_type: { status: 415, title: "The request is not application/json" },
  upgrade_required: { status: 426, title: "A WebSocket handshake is needed" },
  too_many_sockets: { status: 429, title: "The key has too many WebSockets open" },
  rate_limited: { status: 429, title: "Too many requests" },
  over_budget: { status: 429, title: "The key has used up a budget" },
  internal: { status: 500, title: "The relay failed" },
  overloaded: { status: 503, title: "The relay is overloaded" },
  store_unavailable: { status: 503, title: "The store cannot be written" },
} as const;

export type WireErrorCode = keyof typeof WIRE_ERRORS;

export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  code: z.string(),
  detail: z.optional(z.string()),
  /** Bad fields, each with a JSON pointer (RFC 6901) and what would be accepted. */
  errors: z.optional(z.array(z.object({ pointer: z.string(), detail: z.string() }))),
});
export type Problem = z.infer<typeof Problem>;

export function problem(
  code: WireErrorCode,
  detail?: string,
  errors?: { pointer: string; detail: string }[],
): Problem {
  const { status, title } = WIRE_ERRORS[code];
  return {
    type: `urn:svc:error:${code}`,
    title,
    status,
    code,
    ...(detail === undefined ? {} : { detail }),
    ...(errors === undefined ? {} : { errors }),
  };
}

/** The JSON pointer for a schema issue's path. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** WebSocket close codes that the relay sends. */
export const CLOSE = {
  /** The relay restarts: reconnect after a random delay (RFC 6455 registry). */
  SERVICE_RESTART: 1012,
  POLICY: 1008,
  TOO_BIG: 1009,
  /** The relay failed while handling a frame from the peer. */
  FAULT: 1011,
  /** The key was revoked or lacks the scope: do not reconnect with it. */
  REVOKED: 4401,
  /** Another connection of the same device took over. */
  REPLACED: 4409,
  /** Another key or another home owns this device id: see `deviceName`. */
  DEVICE_TAKEN: 4423,
  /** The peer exceeded a limit on what it may send. */
  FLOOD: 4429,
  /** The peer did not read fast enough. */
  SLOW: 4413,
} as const;

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
    case "invalid_union":
      return [...new Set(issue.errors.flat().map(accepted))].join(", or ") || "not accepted";
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
