/** The one error of the relay client: what failed, a stable code, and what to do about it. */
import { Problem, type WireErrorCode } from "../protocol/errors.ts";
import { parseJson } from "../protocol/json.ts";

/** Failures that no relay answered: nobody there, no answer in time, an answer of another form, words that could not be sealed. */
export type LocalErrorCode = "unreachable" | "timeout" | "bad_answer" | "unsealable";
const PASSING: readonly string[] = ["unreachable", "timeout"] satisfies LocalErrorCode[];

export class RelayError extends Error {
  override readonly name = "RelayError";
  /** A wire code (`WireErrorCode`), or one of `LocalErrorCode`; a newer relay may send codes not known here. */
  readonly code: string;
  /** HTTP status; 0 when no relay answered. */
  readonly status: number;
  readonly problem: Problem | undefined;
  /** Whole seconds after which the same request may succeed, when the relay said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, facts: RelayErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status ?? 0;
    this.problem = facts.problem;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }

  /** True when the same request may succeed later without any change. */
  get transient(): boolean {
    return this.status === 0 ? PASSING.includes(this.code) : this.status >= 500 || this.status === 429;
  }
}

export interface RelayErrorFacts {
  code: string;
  status?: number;
  problem?: Problem;
  retryAfterSeconds?: number;
  cause?: unknown;
}

const ADVICE: Partial<Record<WireErrorCode, string>> = {
  unauthenticated: "give a key of this relay (svc keys create), or pair this device again",
  missing_scope: "use a key that has the scope (svc keys create --scope push:read,push:send)",
  unknown_device: "see the devices of this account with svc devices",
  unknown_pairing: "make a new code with svc pair: a code lives 10 minutes and works once",
  wrong_role: "use the host's key; a phone's or a script's lets nobody in",
  id_reused: "send the changed push under a new id",
  ambiguous_session: "name the host with targetDeviceId",
  upgrade_required: "use the HTTP address, not the WebSocket address",
  store_unavailable: "try again; nothing was stored",
  internal: "try again, and look at the relay's log",
};

/** The error for an HTTP answer that is not a success. `what` completes "Cannot …". */
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
    return `the address answered HTTP ${status} and not as a relay does; check the address`;
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

/** Seconds form only (RFC 9110, 10.2.3): the relay sends no dates. */
function parseRetryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}
