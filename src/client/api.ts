/** The relay's HTTP routes as typed calls: every answer is parsed with its wire schema. */
import * as z from "zod/mini";
import { concatBytes } from "../async/encodings.ts";
import { describeFaults } from "../protocol/errors.ts";
import {
  DeviceRevoked,
  DevicesAnswer,
  Health,
  HooksAnswer,
  type PairingClaim,
  PairingClaimed,
  PairingCreated,
  type PairingRequest,
  PairingStatus,
} from "../protocol/http.ts";
import { parseJson } from "../protocol/json.ts";
import { PushAccepted, PushPage, PushRecord, type PushRequestInput } from "../protocol/push.ts";
import { SessionsAnswer } from "../protocol/session.ts";
import { answerError, RelayError } from "./relay_error.ts";

export interface RelayApiOptions {
  /** The relay's HTTP base address; trailing slashes are ignored. */
  baseUrl: string;
  /** Required, except by `health` and `claimPairing`. */
  apiKey?: string | undefined;
  /** Defaults to the global fetch. */
  fetch?: Fetch;
}

interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** Without a cursor, the page starts at the oldest push. */
interface PageOptions {
  /** `next` of the previous page. */
  after?: string;
  /** `next` of the previous page, or `end`: gives the newest pushes before it, or the newest of all. */
  before?: string;
  /** Only questions whose receipt is not final. */
  open?: "questions";
  limit?: number;
}

/** Every method throws RelayError, or the signal's reason if the caller aborted it. */
export interface RelayApi {
  readonly baseUrl: string;
  /** Resolves once the push is durable at the relay. */
  sendPush(push: PushRequestInput, options?: CallOptions): Promise<PushAccepted>;
  getPush(id: string, options?: CallOptions): Promise<PushRecord>;
  /** One page of the history, newest last. */
  listPushes(options?: CallOptions & PageOptions): Promise<PushPage>;
  sessions(options?: CallOptions): Promise<SessionsAnswer>;
  devices(options?: CallOptions): Promise<DevicesAnswer>;
  /** Stops the device's keys at once, except a key that other devices also use: that one is returned. */
  revokeDevice(id: string, options?: CallOptions): Promise<Partial<DeviceRevoked>>;
  /** The next key that sends hello with this device id owns it. */
  releaseDevice(id: string, options?: CallOptions): Promise<void>;
  /** The installations whose hooks have sent pushes. */
  hooks(options?: CallOptions): Promise<HooksAnswer>;
  /** `offer` comes from the host that the code is for. */
  createPairing(options?: CallOptions & PairingRequest): Promise<PairingCreated>;
  pairingStatus(code: string, options?: CallOptions): Promise<PairingStatus>;
  /**
   * The phone's side of a pairing. Needs no key and works once; a phone that sends its own key keeps its device id.
   * `code`: the code, or `sha256-` and its digest in hex with the code in `claim`.
   */
  claimPairing(
    code: string,
    claim: z.input<typeof PairingClaim>,
    options?: CallOptions,
  ): Promise<PairingClaimed>;
  health(options?: CallOptions): Promise<z.infer<typeof Health>>;
}

export function createRelayApi(options: RelayApiOptions): RelayApi {
  const relay = relayAddress(options);
  const call = <S extends z.core.$ZodType>(schema: S, request: Call, given: CallOptions = {}) =>
    callRelay(relay, { ...request, schema, signal: given.signal });
  const remove = async (request: Omit<Call, "method">, given?: CallOptions): Promise<void> =>
    void await call(z.unknown(), { method: "DELETE", ...request }, given);
  return {
    baseUrl: relay.baseUrl,
    sendPush: async (body, given) => {
      const request = { method: "POST", path: "/pushes/send", what: "send the push", body } as const;
      return checkId(body, await call(PushAccepted, request, given));
    },
    getPush: (id, given) => {
      const path = `/pushes/${segment(id)}`;
      return call(PushRecord, { method: "GET", path, what: `read the push "${id}"` }, given);
    },
    listPushes: (given) =>
      call(PushPage, { method: "GET", path: `/pushes${query(given)}`, what: "read the history" }, given),
    sessions: (given) =>
      call(SessionsAnswer, { method: "GET", path: "/sessions", what: "read the sessions" }, given),
    devices: (given) =>
      call(DevicesAnswer, { method: "GET", path: "/devices", what: "read the devices" }, given),
    revokeDevice: async (id, given) => {
      const path = `/devices/${segment(id)}`;
      const request = { method: "DELETE", path, what: `revoke the device "${id}"` } as const;
      return await call(z.optional(DeviceRevoked), request, given) ?? {};
    },
    releaseDevice: (id, given) =>
      remove({ path: `/devices/${segment(id)}/owner`, what: `release the device "${id}"` }, given),
    hooks: (given) => call(HooksAnswer, { method: "GET", path: "/hooks", what: "read the hooks" }, given),
    createPairing: ({ offer, ...given } = {}) => {
      const body = offer === undefined ? {} : { body: { offer } };
      return call(
        PairingCreated,
        { method: "POST", path: "/pairings", what: "create a pairing code", ...body },
        given,
      );
    },
    pairingStatus: (code, given) => {
      const path = `/pairings/${segment(code)}`;
      return call(PairingStatus, { method: "GET", path, what: "check the pairing code" }, given);
    },
    claimPairing: (code, body, given) => {
      const path = `/pairings/${segment(code)}/claim`;
      return call(PairingClaimed, { method: "POST", path, what: "claim the pairing code", body }, given);
    },
    health: (given) => call(Health, { method: "GET", path: "/healthz", what: "reach the relay" }, given),
  };
}

export function relayAddress(
  { baseUrl, apiKey, fetch: fetchIt = (url, init) => fetch(url, init) }: RelayApiOptions,
): RelayAddress {
  return { baseUrl: baseUrl.replace(/\/+$/, ""), apiKey, fetch: fetchIt };
}

/** Throws RelayError if the relay answered for another push: this one would be resent forever. */
function checkId({ id }: PushRequestInput, accepted: PushAccepted): PushAccepted {
  if (id === undefined || id === accepted.id) return accepted;
  throw new RelayError("Cannot send the push: the relay answered for a different one", {
    code: "bad_answer",
  });
}

/** A path parameter. */
export const segment = (text: string): string => encodeURIComponent(text);

function query(page: PageOptions = {}): string {
  const fields = new URLSearchParams();
  if (page.after !== undefined) fields.set("after", page.after);
  if (page.before !== undefined) fields.set("before", page.before);
  if (page.open !== undefined) fields.set("open", page.open);
  if (page.limit !== undefined) fields.set("limit", String(page.limit));
  return fields.size === 0 ? "" : `?${fields}`;
}

/** A call without a complete answer in this time fails with the code `timeout`. */
const CALL_LIMIT_MS = 15_000;
/** Maximum bytes of an answer; the longest ones list the sessions of many hosts. */
export const ANSWER_MAX_BYTES = 33_554_432;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The relay that is called. Without `apiKey`, it answers only on the open routes. */
interface RelayAddress {
  baseUrl: string;
  apiKey?: string | undefined;
  fetch: Fetch;
}

interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Relative to the base address, including the query. */
  path: string;
  /** Completes the sentence "Cannot …". */
  what: string;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/** Throws RelayError, or the signal's reason if the caller aborted it. */
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
    `Cannot ${call.what}: "${relay.baseUrl}" sent an answer that this version does not understand: ${why}`,
    { code: "bad_answer", status: answer.status },
  );
}

interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
}

async function exchange(relay: RelayAddress, call: Call): Promise<Answer> {
  if (!isHeaderValue(relay.apiKey ?? "")) throw badKeyError(call);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), CALL_LIMIT_MS);
  const signal = call.signal === undefined ? limit.signal : AbortSignal.any([call.signal, limit.signal]);
  try {
    const response = await relay.fetch(relay.baseUrl + call.path, requestInit(relay, call, signal));
    if (isRedirect(response)) {
      await response.body?.cancel();
      throw redirectError(relay, call);
    }
    const text = await readText(response);
    if (text === undefined) throw tooLongError(relay, call, response.status);
    return { status: response.status, text, retryAfter: response.headers.get("retry-after") };
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason;
    if (error instanceof RelayError) throw error;
    throw unansweredError(relay, call, { error, timedOut: limit.signal.aborted });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * True if the text can be sent as a header. With any other key, such as one copied with its typographic quotation
 * marks, `fetch` fails as if no relay answered.
 */
function isHeaderValue(text: string): boolean {
  try {
    return new Headers({ "x-api-key": text }).has("x-api-key");
  } catch {
    return false;
  }
}

/** The error that a relay would answer. */
function badKeyError({ what }: Call): RelayError {
  const why = "the API key has characters that no key has; copy it again, without the characters around it";
  return new RelayError(`Cannot ${what}: ${why}`, { code: "unauthenticated", status: 401 });
}

/** True for a redirect; a browser exposes only its type. */
function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304);
}

/** Transient, because a sign-in page in front of the relay or of the network may soon be gone. */
function redirectError(relay: RelayAddress, call: Call): RelayError {
  const why = `"${relay.baseUrl}" answers with a redirect, which svc does not follow`;
  return new RelayError(
    `Cannot ${call.what}: ${why}; use the address that it leads to, or sign in to the network`,
    { code: "unreachable" },
  );
}

/** Returns the body, or undefined if it is too long: a relay must not fill this program's memory. */
async function readText(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  for (let bytes = 0, read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    parts.push(read.value);
    bytes += read.value.length;
    if (bytes <= ANSWER_MAX_BYTES) continue;
    await reader?.cancel();
    return undefined;
  }
  return new TextDecoder().decode(concatBytes(parts));
}

function tooLongError(relay: RelayAddress, call: Call, status: number): RelayError {
  const why = `"${relay.baseUrl}" sent an answer of more than ${ANSWER_MAX_BYTES} bytes`;
  return new RelayError(`Cannot ${call.what}: ${why}`, { code: "bad_answer", status });
}

function requestInit(relay: RelayAddress, call: Call, signal: AbortSignal): RequestInit {
  const headers: Record<string, string> = { accept: "application/json" };
  if (relay.apiKey !== undefined) headers["x-api-key"] = relay.apiKey;
  // Following a redirect would send the key to whatever address it names.
  const init: RequestInit = { method: call.method, headers, signal, redirect: "manual" };
  if (call.body === undefined) return init;
  headers["content-type"] = "application/json";
  return { ...init, body: JSON.stringify(call.body) };
}

function unansweredError(
  relay: RelayAddress,
  call: Call,
  facts: { error: unknown; timedOut: boolean },
): RelayError {
  const why = facts.timedOut
    ? `"${relay.baseUrl}" did not answer within ${CALL_LIMIT_MS / 1_000} s`
    : `no relay answers at "${relay.baseUrl}"`;
  return new RelayError(
    `Cannot ${call.what}: ${why}; check the network, the address, and that the relay runs (svc up or svc server)`,
    {
      code: facts.timedOut ? "timeout" : "unreachable",
      cause: facts.error,
    },
  );
}
