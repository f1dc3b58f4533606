/** The errors of the relay client: what failed, a stable code, what to do about it, and how long to wait before another try. */
import { Problem, type WireErrorCode } from "../protocol/errors.ts";
import { parseJson } from "../protocol/json.ts";
import type { Clock } from "../async/clock.ts";
import { backoffMs, retry } from "../async/retry.ts";
import { BACKOFF_CALM_MS, BACKOFF_MAX_MS, BACKOFF_MIN_MS } from "../protocol/limits.ts";

/** Local failures: no relay there, no answer in time, an answer that is not a relay's, text that could not be sealed. */
type LocalErrorCode = "unreachable" | "timeout" | "bad_answer" | "unsealable";
const TRANSIENT: readonly string[] = ["unreachable", "timeout"] satisfies LocalErrorCode[];

export class RelayError extends Error {
  override readonly name = "RelayError";
  /** A wire code (`WireErrorCode`) or a `LocalErrorCode`; a newer relay may send codes unknown here. */
  readonly code: string;
  /** HTTP status; 0 if no relay answered. */
  readonly status: number;
  readonly problem: Problem | undefined;
  /** Seconds after which the same request may succeed, from Retry-After. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, facts: RelayErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status ?? 0;
    this.problem = facts.problem;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }

  /** True if the same request may succeed later, unchanged. */
  get transient(): boolean {
    return this.status === 0 ? TRANSIENT.includes(this.code) : this.status >= 500 || this.status === 429;
  }
}

interface RelayErrorFacts {
  code: string;
  status?: number;
  problem?: Problem;
  retryAfterSeconds?: number;
  cause?: unknown;
}

const ADVICE: Partial<Record<WireErrorCode, string>> = {
  unauthenticated: "use a key of this relay (svc keys create), or pair again",
  missing_scope: "use a key that has it (svc keys create --scope SCOPE)",
  unknown_device: "see svc devices",
  unknown_pairing: "create a new one with svc pair",
  wrong_role: "use another key",
  id_reused: "send the changed push under a new id",
  ambiguous_session: "name the host with targetDeviceId",
  upgrade_required: "use the HTTP address, not the WebSocket address",
  overloaded: "try again later",
  store_unavailable: "try again later",
  internal: "try again, and check the relay's log",
};

/** The error for an unsuccessful HTTP answer. `what` completes "Cannot …". */
export function answerError(
  what: string,
  answer: { status: number; text: string; retryAfter: string | null },
) {
  const problem = parseProblem(answer.text);
  const retryAfterSeconds = parseRetryAfter(answer.retryAfter);
  const code = problem?.code ?? (answer.status === 429 ? "rate_limited" : "bad_answer");
  return new RelayError(`Cannot ${what}: ${describe(answer.status, problem, retryAfterSeconds)}`, {
    code,
    status: answer.status,
    ...(problem === undefined ? {} : { problem }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function describe(
  status: number,
  problem: Problem | undefined,
  retryAfterSeconds: number | undefined,
): string {
  if (problem === undefined) {
    const why = status < 502
      ? "something that is not a relay; check the address"
      : "a proxy; check the relay behind it";
    return `HTTP ${status} from ${why}`;
  }
  const fields = (problem.errors ?? []).map((error) => `${error.pointer}: ${error.detail}`).join(", ");
  const advice = retryAfterSeconds === undefined
    ? ADVICE[problem.code as WireErrorCode]
    : `try again in ${retryAfterSeconds} s`;
  const why = [problem.detail ?? problem.title, fields].filter((part) => part !== "").join(": ");
  return advice === undefined ? why : `${why.replace(/[.;]$/, "")}; ${advice}`;
}

function parseProblem(text: string): Problem | undefined {
  return Problem.safeParse(parseJson(text)?.value).data;
}

/** A browser's timer fires at once when it is set to more than 24.8 days. */
const RETRY_AFTER_MAX_SECONDS = 3_600;

/** Only the form in seconds (RFC 9110, 10.2.3): the relay never sends dates. */
function parseRetryAfter(header: string | null): number | undefined {
  if (header === null || !/^\d{1,9}$/.test(header)) return undefined;
  return Math.min(Number(header), RETRY_AFTER_MAX_SECONDS);
}

/** The first delay is at most 0.25 s; its bound doubles up to 30 s. */
export const RELAY_BACKOFF = { minMs: BACKOFF_MIN_MS, maxMs: BACKOFF_MAX_MS };

/**
 * Runs `work`, and retries it for up to `limitMs` while the relay is busy or unreachable. Throws the last failure, or
 * the signal's reason.
 */
export async function retryRelay<T>(
  work: () => Promise<T>,
  { limitMs, clock, signal }: { limitMs: number; clock: Clock; signal?: AbortSignal },
): Promise<T> {
  const end = clock.elapsed() + limitMs;
  const isTransient = (error: unknown): boolean => {
    if (!(error instanceof RelayError) || !error.transient) return false;
    return clock.elapsed() + (error.retryAfterSeconds ?? 0) * 1_000 <= end;
  };
  return await retry(work, { isTransient, backoff: RELAY_BACKOFF, clock, signal });
}

/** The delay before retry number `attempt`, in whole milliseconds; `random` is in [0, 1). */
export function backoffDelayMs(attempt: number, random: number): number {
  return backoffMs(attempt, { ...RELAY_BACKOFF, random: () => random });
}

/** The retry count after a connection that lasted `lastedMs` (0 if it never opened): a calm period resets it. */
export function attemptsAfter(attempts: number, lastedMs: number): number {
  return lastedMs >= BACKOFF_CALM_MS ? 0 : attempts;
}

/** The link's secret is incomplete, and the code was not claimed; or it is missing, and the code is used up. */
export class DamagedLink extends Error {
  override name = "DamagedLink";
}

/** The relay's answer has no proof by the host that showed the QR code: the relay is lying, or the link is forged. */
export class UnprovenHost extends Error {
  override name = "UnprovenHost";
}
