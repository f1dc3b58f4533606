/** One HTTP call to the relay: the key, the time limit, the answer parsed with its schema. */
import * as z from "zod/mini";
import { describeFaults } from "../protocol/faults.ts";
import { parseJson } from "../protocol/json.ts";
import { answerError, RelayError } from "./relay_error.ts";

/** After this time without a whole answer a call fails with the code `timeout`. */
export const CALL_LIMIT_MS = 15_000;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Where calls go. Without `apiKey` only the open routes answer. */
export interface RelayAddress {
  baseUrl: string;
  apiKey?: string | undefined;
  fetch: Fetch;
}

export interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the base address, with its query. */
  path: string;
  /** Completes the sentence "Cannot …". */
  what: string;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/** Makes the call; throws RelayError, or the signal's reason when the caller aborted it. */
export async function callRelay<S extends z.core.$ZodType>(
  relay: RelayAddress,
  call: Call & { schema: S },
): Promise<z.output<S>> {
  const answer = await exchange(relay, call);
  if (answer.status < 200 || answer.status > 299) throw answerError(call.what, answer);
  const parsed = z.safeParse(call.schema, parseJson(answer.text)?.value);
  if (parsed.success) return parsed.data;
  const why = describeFaults(parsed.error);
  throw new RelayError(
    `Cannot ${call.what}: "${relay.baseUrl}" answered in a form that this version does not know: ${why}`,
    { code: "bad_answer", status: answer.status },
  );
}

interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
}

async function exchange(relay: RelayAddress, call: Call): Promise<Answer> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), CALL_LIMIT_MS);
  const signal = call.signal === undefined ? limit.signal : AbortSignal.any([call.signal, limit.signal]);
  try {
    const response = await relay.fetch(relay.baseUrl + call.path, requestInit(relay, call, signal));
    const text = await response.text();
    return { status: response.status, text, retryAfter: response.headers.get("retry-after") };
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason;
    throw unansweredError(relay, call, { error, timedOut: limit.signal.aborted });
  } finally {
    clearTimeout(timer);
  }
}

function requestInit(relay: RelayAddress, call: Call, signal: AbortSignal): RequestInit {
  const headers: Record<string, string> = { accept: "application/json" };
  if (relay.apiKey !== undefined) headers["x-api-key"] = relay.apiKey;
  if (call.body === undefined) return { method: call.method, headers, signal };
  headers["content-type"] = "application/json";
  return { method: call.method, headers, signal, body: JSON.stringify(call.body) };
}

function unansweredError(
  relay: RelayAddress,
  call: Call,
  facts: { error: unknown; timedOut: boolean },
): RelayError {
  const why = facts.timedOut
    ? `"${relay.baseUrl}" gave no answer in ${CALL_LIMIT_MS / 1_000} s`
    : `no relay answers at "${relay.baseUrl}"`;
  return new RelayError(
    `Cannot ${call.what}: ${why}; check the network, the address, and that svc server runs`,
    {
      code: facts.timedOut ? "timeout" : "unreachable",
      cause: facts.error,
    },
  );
}
