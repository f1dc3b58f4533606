/** Errors of the wire as answers: problem+json (RFC 9457), thrown by a handler and written by the app. */
import type * as z from "zod/mini";
import { problem, type WireErrorCode } from "../protocol/errors.ts";
import { fieldFaults } from "../protocol/faults.ts";

/** Ends a handler with this answer. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly response: Response;

  constructor(code: WireErrorCode, detail: string, options: RefusalOptions = {}) {
    super(detail);
    this.response = problemResponse(code, { detail, ...options });
  }
}

export interface RefusalOptions {
  errors?: { pointer: string; detail: string }[] | undefined;
  headers?: Record<string, string> | undefined;
}

export function problemResponse(
  code: WireErrorCode,
  { detail, errors, headers }: RefusalOptions & { detail?: string } = {},
): Response {
  const found = problem(code, detail, errors);
  return new Response(JSON.stringify(found), {
    status: found.status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

/** The refusal of a body that does not fit its schema, with every bad field. */
export function badFields(
  code: "invalid_push" | "invalid_request",
  error: z.core.$ZodError,
): Refusal {
  const errors = fieldFaults(error);
  return new Refusal(code, `Cannot take the request: ${errors.length} bad field(s), each named in errors`, {
    errors,
  });
}

/** Over a budget of the key; `waitSeconds` when time alone mends it. */
export function overBudget(why: string, waitSeconds?: number): Refusal {
  const again = waitSeconds === undefined ? "" : `; try again in ${waitSeconds} s`;
  const headers = waitSeconds === undefined ? undefined : { "retry-after": String(waitSeconds) };
  return new Refusal("over_budget", `Cannot take more: ${why}${again}`, { headers });
}

export function tooManyRequests(waitSeconds: number): Refusal {
  const headers = { "retry-after": String(waitSeconds) };
  return new Refusal("rate_limited", `Too many requests: try again in ${waitSeconds} s`, { headers });
}
