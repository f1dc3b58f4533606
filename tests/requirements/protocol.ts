/** What protocol.md decides of HTTP, pushes, receipts, the WebSocket and its frames. */
import { agents, main, mirror, phone, type Requirement, rows } from "./row.ts";

const SCHEMAS = rows("protocol, opening", {
  "proto-one-schema": main("Every message is defined once under src/protocol and imported by all ends."),
  "proto-page": main("docs/protocol.md is the public form of the protocol and is kept true."),
});

const HTTP = rows("protocol, HTTP", {
  "http-open-paths": main(
    "Only the app, /healthz, /readyz, /openapi.json and the claim of a pairing do without a key.",
  ),
  "http-problem": main(
    "Errors are application/problem+json with type, title, status, detail and a stable code.",
  ),
  "http-pointers": main("A problem lists each bad field with its JSON pointer."),
  "http-no-leak": main("An answer has no stack trace and echoes no secret."),
  "http-202": main("An accepted push is answered 202 with id, state and expiresAt only once it is durable."),
  "http-get-push": main("GET /pushes/{id} gives the push and its receipt."),
  "http-history": main("GET /pushes pages by cursor, newest last."),
  "http-sessions": main("GET /sessions gives every session of every listener of the account."),
  "http-devices": main("GET /devices lists the devices."),
  "http-revoke": main("DELETE /devices/{id} revokes: the key stops working at once and open sockets close."),
  "http-pairings": mirror("POST /pairings makes a one-time code that lives 10 minutes."),
  "http-claim": mirror("A claim is single-use and answers the phone's own key and device id."),
  "http-web-push": phone("PUT and DELETE /devices/{id}/web-push keep a phone's subscription."),
  "http-health": main("/healthz answers for the process, /readyz for store and bus."),
  "http-metrics": main("/metrics gives Prometheus text to an admin key or to loopback."),
  "http-openapi": main("/openapi.json is OpenAPI 3.1, made from the same schemas."),
  "http-400": main("Bad fields are 400 invalid_push with every one of them."),
  "http-401": main("A missing or wrong key is 401 unauthenticated."),
  "http-403": main("A key without the scope is 403 missing_scope."),
  "http-404": main("An unknown device or push is 404 with its code."),
  "http-409": main("A client's id with other content is 409 id_reused."),
  "http-413": main("Too large a request is 413 too_large."),
  "http-415": main("Another media type is 415."),
  "http-429": main("Too many requests are 429 rate_limited with Retry-After."),
  "http-503": main("A store that cannot be written is 503 store_unavailable."),
  "http-2xx-stored": main("2xx means stored; anything else means that nothing was."),
});

const PUSH = rows("protocol, push", {
  "proto-push-id": main("A push sent again with its id gets the first answer and types nothing twice."),
  "proto-push-ttl": main("ttlSeconds is 10 to 604800, 3600 by default; after it the push expires."),
  "proto-push-extra": main("title, data up to 4 KB, inReplyTo and sealed are optional."),
  "proto-push-sealed": main("agent.command has either body or sealed, not both."),
  "proto-body-size": main("A body has 1 to 16,384 UTF-8 bytes."),
  "proto-body-crlf": main("CRLF in a body becomes LF."),
  "proto-body-controls": main("Control characters but LF and TAB are refused as invalid_push."),
  "type-start": agents("agent.start starts an agent in a known project where the host allows it."),
  "type-ask": agents("ask carries kind, options, fields and deadline to the phones."),
  "type-answer": agents("ask.answer answers by inReplyTo."),
  "type-stop": agents("agent.stop tells phones that the agent ended its turn."),
  "type-attention": agents("agent.attention tells phones that the agent waits."),
  "type-note": agents("note is a plain note."),
  "type-broadcast": agents("broadcast reaches every device of a channel."),
  "type-ignored": main(
    "A type that the listener does not know is acknowledged as ignored and named in the log.",
  ),
});

const RECEIPTS = rows("protocol, receipts", {
  "rcpt-path": main("A push goes queued, delivered, perhaps held, typed, submitted."),
  "rcpt-ends": main("Or it ends as refused, expired or unknown."),
  "rcpt-times": main("A receipt holds state, reason and the epoch milliseconds of each state."),
  "rcpt-reasons": main("Refusals and holds carry one of the stable reasons."),
  "rcpt-live": main("Phones see receipts live."),
});

const SOCKET = rows("protocol, WebSocket", {
  "ws-subprotocol": main("The subprotocol is svc.v1."),
  "ws-key-subprotocol": main("The key travels in the handshake as svc.key.<base64url>, or as X-API-Key."),
  "ws-401": main("A stranger gets 401 before any upgrade."),
  "ws-scope": main("A key without push:read is refused at the handshake."),
  "ws-no-key-in-url": main("A key in the URL is not taken."),
  "ws-control": main("Control frames are JSON {event, id?, data}; an answer carries re."),
  "ws-hello": main(
    "hello is the first frame; the answer names version, protocol, limits and the relay's clock.",
  ),
  "ws-unknown": main("Both sides ignore and count unknown events."),
  "ws-ping": main("A side pings every 20 s; 40 s without a frame closes."),
  "ws-1012": main("A closing relay sends 1012."),
  "ws-backoff": main("Clients return with full jitter, 0.25 s doubling to 30 s, reset after 60 s of calm."),
  "ws-size": main("Text frames over 256 KB and binary ones over 1 MB close with 1009."),
});

const EVENTS = rows("protocol, events", {
  "ev-hello": main("hello carries role, deviceId, name, version, publicKey and capabilities."),
  "ev-push-resend": main("push.new is sent again until acknowledged, also after a reconnect."),
  "ev-push-ack": main("push.ack is idempotent and taken for an id already closed."),
  "ev-push-updated": main("push.updated tells phones the receipt."),
  "ev-sessions-answer": main("listener.sessions is answered by listener.stored or listener.rejected."),
  "ev-sessions-changed": main(
    "sessions.changed tells phones the sessions of a listener and whether it is online.",
  ),
  "ev-pane-schema": main("The pane events have schemas: open, opened, closed, credit."),
  "ev-pane-open": mirror("pane.open reaches the listener through the relay and is answered pane.opened."),
  "ev-pane-closed": mirror("pane.closed ends a stream with its reason."),
  "ev-pane-credit": mirror("pane.credit bounds what the listener sends."),
});

const ENTRIES = rows("protocol, inventory entry", {
  "entry-fields": main(
    "An entry has name, project, agent, label, state, times, attached, cwd, title, size, muted, addressable.",
  ),
  "entry-states": main("The states are starting, working, waiting, idle and exited."),
  "entry-unknown": main("The relay keeps fields of an entry that it does not know."),
});

const BINARY = rows("protocol, binary frames", {
  "bin-header": main("A binary frame is kind u8, stream u32, payload, big-endian."),
  "bin-kinds": main("Kind 1 is a pane frame, kind 2 keystrokes; others are not taken."),
  "bin-plain": main("The plain payload is sequence u64 and bytes."),
  "bin-route": mirror("The relay routes by stream and never reads the payload."),
  "bin-tags": mirror("A pane frame's bytes begin with S, O, R or T."),
});

export const PROTOCOL_ROWS: readonly Requirement[] = [
  ...SCHEMAS,
  ...HTTP,
  ...PUSH,
  ...RECEIPTS,
  ...SOCKET,
  ...EVENTS,
  ...ENTRIES,
  ...BINARY,
];
