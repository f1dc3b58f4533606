/**
 * The library: svc's wire protocol and a client for its relay, for scripts, bots and other phones; the sealed channel;
 * and relay, listener and MCP server for programs that embed them, on Deno and on Node. The code of a
 * server is loaded only when it is started.
 *
 * @example Send a message into a session and wait until it is submitted
 * ```ts
 * import assert from "node:assert/strict";
 * import { createRelayApi, waitForReceipt } from "@svc/svc";
 *
 * // A stand-in for the relay; leave `fetch` out to talk to a real one.
 * const times = { createdAt: 0, expiresAt: 3_600_000 };
 * const push = { id: "0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b", type: "agent.command", from: "script", ...times };
 * const receipt = { state: "submitted", final: true, at: { submitted: 1 } };
 * const fetch = (_url: string, init?: RequestInit) =>
 *   Promise.resolve(
 *     init?.method === "POST"
 *       ? Response.json({ id: push.id, state: "queued", expiresAt: push.expiresAt }, { status: 202 })
 *       : Response.json({ push, receipt }),
 *   );
 *
 * const api = createRelayApi({ baseUrl: "https://relay.example", apiKey: "svc_0", fetch });
 * const body = "run the tests";
 * const { id } = await api.sendPush({ type: "agent.command", agentSessionName: "svc-proj", body });
 * const seen = await waitForReceipt(api, id, { timeoutMs: 5_000 });
 * assert.equal(seen.receipt.state, "submitted");
 * ```
 *
 * @module
 */

export { httpBaseFromWs, wsFromHttpBase } from "./src/client/addresses.ts";
export { createRelayApi, type RelayApi, type RelayApiOptions } from "./src/client/api.ts";
export { RelayError } from "./src/client/relay_error.ts";
export { type LinkState, RelayLink, type RelayLinkOptions } from "./src/client/relay_link.ts";
export { waitForReceipt, type WaitOptions } from "./src/client/wait_for_receipt.ts";
export { type AskData, askDataOf } from "./src/protocol/ask.ts";
export { WIRE_ERRORS, type WireErrorCode } from "./src/protocol/errors.ts";
export {
  encodeFrame,
  type EventData,
  type EventName,
  type Frame,
  parseFrame,
} from "./src/protocol/frames.ts";
export { isSessionName, sessionLabel, sessionName } from "./src/protocol/names.ts";
export type { Push, PushAccepted, PushRecord, PushRequestInput } from "./src/protocol/push.ts";
export type { Reason, Receipt } from "./src/protocol/receipt.ts";
export type { SessionEntry, SessionsAnswer } from "./src/protocol/session.ts";
export { VERSION } from "./src/protocol/version.ts";
export { exportPublicKey, generateKeyPair, importPublicKey } from "./src/crypto/keys.ts";
export { importSecret, newSecret } from "./src/crypto/paired_secret.ts";
export {
  type MessageBinding,
  openMessage,
  type SealedContent,
  sealMessage,
} from "./src/crypto/stored_message.ts";
export {
  acceptStream,
  beginStream,
  type PhoneHandshake,
  type StreamChannel,
  type StreamHello,
  type StreamParties,
} from "./src/crypto/stream.ts";
export {
  createMcpServer,
  type Listener,
  type ListenerOptions,
  type McpServer,
  type McpServerOptions,
  type Relay,
  type RelayOptions,
  startListener,
  startRelay,
} from "./src/library/embedded.ts";
