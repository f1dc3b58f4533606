/** What an HTTP handler works with: the relay's services, its route, the call, the parsed body, JSON answers and refusals. */
import * as z from "zod/mini";
import type { Clock } from "../async/clock.ts";
import type { Mutex } from "../async/mutex.ts";
import type { Bus } from "../bus/bus.ts";
import type { KeyRecord, Store } from "../store/store.ts";
import { fieldFaults, problem, type WireErrorCode } from "../protocol/errors.ts";
import type { Scope } from "../protocol/http.ts";
import { parseJson } from "../protocol/json.ts";
import { afterReads } from "../runtime/sqlite.ts";
import { type Admission, ANSWER_HEADERS } from "./admission.ts";
import { type Budgets, OVER_BUDGET } from "./budgets.ts";
import type { ClaimAnswers } from "./claim_answers.ts";
import type { Hub } from "./hub.ts";
import type { RelayMetrics } from "./metrics.ts";
import type { PushClaims } from "./outbox.ts";
import type { RemotePhones } from "./remote_phones.ts";
import type { Streams } from "./streams.ts";
import type { WebPush } from "./web_push.ts";

/** What the handlers work with; server.ts creates it. */
export interface Services {
  store: Store;
  bus: Bus;
  hub: Hub;
  streams: Streams;
  /** Mirrors between this node and others. */
  remote: RemotePhones;
  webPush: WebPush;
  metrics: RelayMetrics;
  clock: Clock;
  budgets: Budgets;
  admission: Admission;
  /** Which pushes were sent to their listener, or cancelled before that. */
  claims: PushClaims;
  /** The answers to claims of pairing codes. */
  claimAnswers: ClaimAnswers;
  /** Large answers are made one at a time. */
  pageReads: Mutex;
  /** Work that continues after its caller has been answered. */
  tasks: Tasks;
  /** Where others reach this relay, when that is known. */
  publicUrl?: string | undefined;
  /** The relay serves https itself: there is probably no proxy in front of it. */
  isTls?: boolean | undefined;
  /** Writes one line; never a key, a body or a frame. */
  log(line: string): void;
}

/** Background work: its failures are reported, and a stop waits for it. */
export class Tasks {
  readonly #running = new Set<Promise<void>>();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  run(work: Promise<void>): void {
    const task = work.catch(this.#failed).finally(() => this.#running.delete(task));
    this.#running.add(task);
  }

  /** Resolves when nothing is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/** One HTTP call as a handler sees it. */
export interface Call {
  request: Request;
  /** The caller's IP address. */
  address: string;
  /** A decoded path parameter. */
  param(name: string): string;
  query(name: string): string | undefined;
}

/** A call whose key was found and has one of the route's scopes. */
export interface KeyedCall extends Call {
  key: KeyRecord;
}

/** The documentation of a route. `path` has its parameters in braces. */
interface RouteDoc {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  summary: string;
  query?: Record<string, string>;
  body?: z.core.$ZodType;
  /** A request without a body is accepted too. */
  needsNoBody?: true;
  answer: { status: number; schema?: z.core.$ZodType; type?: string };
  /** A second answer that is not a problem document. */
  otherwise?: { status: number; schema: z.core.$ZodType };
  /** In addition to those of every keyed route. */
  errors?: readonly WireErrorCode[];
}

/** A route that needs a key with one of the scopes. */
interface KeyedRoute extends RouteDoc {
  scopes: readonly Scope[];
  handle(services: Services, call: KeyedCall): Promise<Response>;
}

/** A route that needs no key. */
interface OpenRoute extends RouteDoc {
  handleOpen(services: Services, call: Call): Response | Promise<Response>;
}

export type Route = KeyedRoute | OpenRoute;

/** Returns the body, parsed with its schema. Throws Refusal if it is not valid. */
export async function readBody<S extends z.core.$ZodType>(
  { request }: Call,
  { schema, code }: { schema: S; code: "invalid_push" | "invalid_request" },
): Promise<z.output<S>> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new Refusal(
      "unsupported_media_type",
      `Cannot read a body of type "${type.slice(0, 100)}": send application/json`,
    );
  }
  const text = utf8Text(await request.arrayBuffer());
  const json = text === undefined ? undefined : parseJson(text);
  if (json === undefined) {
    throw new Refusal(code, "Cannot read the body: it is not JSON in UTF-8, or it is nested too deeply");
  }
  const parsed = z.safeParse(schema, json.value);
  if (parsed.success) return parsed.data;
  const errors = fieldFaults(parsed.error);
  throw new Refusal(code, `Cannot accept the request: ${errors.length} bad field(s), each listed in errors`, {
    errors,
  });
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** Undefined for invalid UTF-8: a replacement character would be typed into the pane. */
function utf8Text(bytes: ArrayBuffer): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

export function json(body: unknown, status = 200): Response {
  return jsonText(JSON.stringify(body), status);
}

/** A body that is JSON already. */
export function jsonText(text: string, status = 200): Response {
  return new Response(text, {
    status,
    headers: { "content-type": "application/json", ...ANSWER_HEADERS },
  });
}

export function noContent(): Response {
  return new Response(null, { status: 204, headers: ANSWER_HEADERS });
}

interface ProblemOptions {
  errors?: { pointer: string; detail: string }[] | undefined;
  headers?: Record<string, string> | undefined;
}

/** Thrown by a handler to answer with a problem. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly response: Response;

  constructor(code: WireErrorCode, detail: string, options: ProblemOptions = {}) {
    super(detail);
    this.response = problemResponse(code, { detail, ...options });
  }
}

/** A wire error as problem+json (RFC 9457). */
export function problemResponse(
  code: WireErrorCode,
  { detail, errors, headers }: ProblemOptions & { detail?: string } = {},
): Response {
  const found = problem(code, detail, errors);
  return new Response(JSON.stringify(found), {
    status: found.status,
    headers: { "content-type": "application/problem+json", ...ANSWER_HEADERS, ...headers },
  });
}

/** The key is over a budget; `waitSeconds` is set when waiting is enough. */
export function overBudget(why: string, waitSeconds?: number): Refusal {
  const retry = waitSeconds === undefined ? "" : `; try again in ${waitSeconds} s`;
  const headers = waitSeconds === undefined ? undefined : { "retry-after": String(waitSeconds) };
  return new Refusal("over_budget", `Cannot accept more: ${why}${retry}`, { headers });
}

export function tooManyRequests(waitSeconds: number): Refusal {
  const headers = { "retry-after": String(waitSeconds) };
  return new Refusal("rate_limited", `Too many requests: try again in ${waitSeconds} s`, { headers });
}

/** Counts a request or a handshake against its key; throws the refusal when the key sends too many. */
export function countRequest({ budgets, clock, metrics }: Services, { id }: KeyRecord): void {
  const wait = budgets.requests.take(id, clock.elapsed());
  if (wait === 0) return;
  metrics.of(OVER_BUDGET).add({ budget: "requests" });
  throw tooManyRequests(wait);
}

/** Makes large answers one at a time. Throws Refusal when the key's budget in bytes is used up. */
export function readPage<T>(
  { pageReads, budgets, clock, metrics }: Services,
  { key, read }: { key: KeyRecord; read: () => Promise<{ value: T; bytes: number }> },
): Promise<T> {
  return pageReads.run(async () => {
    // Lets other input be handled between two pages.
    await new Promise<void>((resolve) => afterReads(resolve));
    // Checked only now, when earlier requests have been charged.
    const wait = budgets.pageBytes.take(key.id, clock.elapsed(), 0);
    if (wait > 0) {
      metrics.of(OVER_BUDGET).add({ budget: "page_bytes" });
      throw tooManyRequests(wait);
    }
    const { value, bytes } = await read();
    budgets.pageBytes.charge(key.id, clock.elapsed(), bytes);
    return value;
  });
}
