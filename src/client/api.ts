/** The relay's HTTP routes as typed calls: every answer is parsed with the schema of the wire. */
import * as z from "zod/mini";
import {
  DevicesAnswer,
  Health,
  type PairingClaim,
  PairingClaimed,
  PairingCreated,
  type PairingRequest,
  PairingStatus,
} from "../protocol/http.ts";
import { PushAccepted, PushPage, PushRecord, type PushRequestInput } from "../protocol/push.ts";
import { SessionsAnswer } from "../protocol/session.ts";
import { type Call, callRelay, type Fetch, type RelayAddress } from "./http.ts";
import { RelayError } from "./relay_error.ts";

export interface RelayApiOptions {
  /** The relay's HTTP base address; slashes at its end do not matter. */
  baseUrl: string;
  /** Needed by everything but `health` and `claimPairing`. */
  apiKey?: string | undefined;
  /** The global fetch when left out. */
  fetch?: Fetch;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** Without a cursor the page begins at the oldest push. */
export interface PageOptions {
  /** `next` of the page before: what follows it. */
  after?: string;
  /** A push id: the newest ones before it; `end`: the newest of all. */
  before?: string;
  limit?: number;
}

/** Every method throws RelayError, or the signal's reason when the caller aborted it. */
export interface RelayApi {
  readonly baseUrl: string;
  /** Resolves once the push is durable at the relay. */
  sendPush(push: PushRequestInput, options?: CallOptions): Promise<PushAccepted>;
  getPush(id: string, options?: CallOptions): Promise<PushRecord>;
  /** One page of the history, newest last. */
  listPushes(options?: CallOptions & PageOptions): Promise<PushPage>;
  sessions(options?: CallOptions): Promise<SessionsAnswer>;
  devices(options?: CallOptions): Promise<DevicesAnswer>;
  /** Its key stops working at once. */
  revokeDevice(id: string, options?: CallOptions): Promise<void>;
  /** The next key that says hello with this id owns it. */
  releaseDevice(id: string, options?: CallOptions): Promise<void>;
  /** With the offer of a host, for which the code is. */
  createPairing(options?: CallOptions & PairingRequest): Promise<PairingCreated>;
  pairingStatus(code: string, options?: CallOptions): Promise<PairingStatus>;
  /** The phone's side of a pairing: works without a key, once. A phone's own key keeps it the device it is. */
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
      return answering(body, await call(PushAccepted, request, given));
    },
    getPush: (id, given) => {
      const request = {
        method: "GET",
        path: `/pushes/${segment(id)}`,
        what: `read the push "${id}"`,
      } as const;
      return call(PushRecord, request, given);
    },
    listPushes: (given) =>
      call(PushPage, { method: "GET", path: `/pushes${query(given)}`, what: "read the history" }, given),
    sessions: (given) =>
      call(SessionsAnswer, { method: "GET", path: "/sessions", what: "read the sessions" }, given),
    devices: (given) =>
      call(DevicesAnswer, { method: "GET", path: "/devices", what: "read the devices" }, given),
    revokeDevice: (id, given) =>
      remove({ path: `/devices/${segment(id)}`, what: `revoke the device "${id}"` }, given),
    releaseDevice: (id, given) =>
      remove({ path: `/devices/${segment(id)}/owner`, what: `release the device "${id}"` }, given),
    createPairing: ({ offer, ...given } = {}) => {
      const body = offer === undefined ? {} : { body: { offer } };
      return call(
        PairingCreated,
        { method: "POST", path: "/pairings", what: "make a pairing code", ...body },
        given,
      );
    },
    pairingStatus: (code, given) => {
      const path = `/pairings/${segment(code)}`;
      return call(PairingStatus, { method: "GET", path, what: "look after the pairing code" }, given);
    },
    claimPairing: (code, body, given) => {
      const path = `/pairings/${segment(code)}/claim`;
      return call(PairingClaimed, { method: "POST", path, what: "claim the pairing code", body }, given);
    },
    health: (given) => call(Health, { method: "GET", path: "/healthz", what: "reach the relay" }, given),
  };
}

function relayAddress(
  { baseUrl, apiKey, fetch: fetchIt = (url, init) => fetch(url, init) }: RelayApiOptions,
): RelayAddress {
  return { baseUrl: baseUrl.replace(/\/+$/, ""), apiKey, fetch: fetchIt };
}

/** An answer for another push would leave this one to be sent again and again. */
function answering({ id }: PushRequestInput, accepted: PushAccepted): PushAccepted {
  if (id === undefined || id === accepted.id) return accepted;
  throw new RelayError("Cannot send the push: the relay answered for another one", { code: "bad_answer" });
}

const segment = (text: string): string => encodeURIComponent(text);

function query(page: PageOptions = {}): string {
  const fields = new URLSearchParams();
  if (page.after !== undefined) fields.set("after", page.after);
  if (page.before !== undefined) fields.set("before", page.before);
  if (page.limit !== undefined) fields.set("limit", String(page.limit));
  return fields.size === 0 ? "" : `?${fields}`;
}
