/** HTTP, pushes, receipts, the WebSocket and its frames. */
import { agents, faults, main, mirror, phone, type Requirement, rows } from "./row.ts";

const WIRE_PROTOCOL = rows("docs/protocol.md, Wire protocol", {
  "proto-one-schema": main("Every message is defined once under src/protocol and imported by both ends."),
  "proto-page": main("docs/protocol.md is the public form of the protocol and is kept true."),
});

const HTTP = rows("docs/protocol.md, HTTP", {
  "http-open-paths": main(
    "Only the page, /healthz, /readyz, /openapi.json and the claim of a pairing code work without a key.",
  ),
  "http-202": main("A push is answered with 202 and id, state and expiresAt only once it is durable."),
  "http-get-push": main("GET /pushes/{id} returns the push and its receipt."),
  "http-history": main("GET /pushes pages by cursor, newest last."),
  "http-sessions": main("GET /sessions returns every session of every listener of the account."),
  "http-devices": main("GET /devices lists the devices."),
  "http-revoke": main("DELETE /devices/{id} revokes: the key stops working at once and open sockets close."),
  "http-pairings": mirror("POST /pairings creates a one-time code that is valid for 10 minutes."),
  "http-claim": mirror("A claim works once and returns the phone's own key and device id."),
  "http-web-push": phone("PUT and DELETE /devices/{id}/web-push store and remove a phone's subscription."),
  "http-health": main("/healthz answers for the process, /readyz for store and bus."),
  "http-metrics": main("/metrics returns Prometheus text to an admin key or to loopback."),
  "http-openapi": main("/openapi.json is OpenAPI 3.1, generated from the same schemas."),
  "http-2xx-stored": main(
    "2xx means stored; anything else, but for 503 of a relay on NATS, means that nothing was stored.",
  ),
});

const ERRORS = rows("docs/protocol.md, Errors", {
  "http-problem": main(
    "Errors are application/problem+json with type, title, status, detail and a stable code.",
  ),
  "http-pointers": main("A problem lists each bad field with its JSON pointer."),
  "http-no-leak": main("An answer contains no stack trace and repeats no secret."),
  "http-400": main("Bad fields are 400 invalid_push, and the answer lists all of them."),
  "http-401": main("A missing or wrong key is 401 unauthenticated."),
  "http-403": main("A key without the scope is 403 missing_scope."),
  "http-404": main("An unknown device or push is 404 with its code."),
  "http-409": main("An id that was used with other content is 409 id_reused."),
  "http-413": main("A request that is too large is 413 too_large."),
  "http-415": main("Another media type is 415."),
  "http-429": main("Too many requests are 429 rate_limited with Retry-After."),
  "http-overloaded": faults(
    "An overloaded relay works on the requests of keys that send much in turns with rests, answers more of them with 503 overloaded and Retry-After, unread, and serves others at once.",
  ),
  "http-503": main("A store that cannot be written is 503 store_unavailable."),
});

const SENDING_LATER = rows("docs/protocol.md, Sending later", {
  "later-typed": phone("A message with later waits for its time or for the agent, and is typed once."),
  "later-limit": phone("An agent's usage limit is read from its screen or hook, with when it resets."),
});

const CANCELLING = rows("docs/protocol.md, Cancelling", {
  "cancel-queued": phone("A message that waits at the relay is cancelled at once and never sent."),
  "cancel-own": phone("A key that is not a phone's cancels only what it sent itself."),
  "cancel-atomic": phone(
    "A message is either cancelled or submitted, whichever comes first at its listener.",
  ),
});

const PUSHES = rows("docs/protocol.md, Pushes", {
  "proto-push-id": main("A push sent again with its id gets the first answer and types nothing twice."),
  "proto-push-ttl": main("ttlSeconds is 10 to 604800, 3600 by default; after it the push expires."),
  "proto-push-extra": main("title, data up to 4 KB, inReplyTo and sealed are optional."),
  "proto-push-sealed": main("agent.command has either body or sealed, not both."),
  "proto-body-size": main("A body has 1 to 16,384 UTF-8 bytes."),
  "proto-body-crlf": main("CRLF in a body becomes LF."),
  "proto-body-controls": main("Control characters other than LF and TAB are refused as invalid_push."),
  "type-stop": agents("agent.stop notifies the phones that the agent ended its turn."),
  "type-attention": agents("agent.attention notifies the phones that the agent waits."),
  "type-note": agents("note is a plain note."),
  "type-broadcast": agents("broadcast reaches every device of a channel."),
  "type-ignored": main(
    "A type that the listener does not know is acknowledged as ignored and named in the log.",
  ),
});

const STARTING_AN_AGENT = rows("docs/protocol.md, Starting an agent", {
  "type-start": agents("agent.start starts an agent in a known project where the host allows it."),
});

const ENDING_AN_AGENT = rows("docs/protocol.md, Ending an agent", {
  "type-end": phone(
    "agent.end ends an agent that svc started, in the session that the phone saw, where the host allows it.",
  ),
});

const MUTING_A_PROJECT = rows("docs/protocol.md, Muting a project", {
  "type-mute": phone(
    "project.mute mutes the project of a session, and unmutes only what a phone has muted.",
  ),
  "det-muted": phone("Details list the muted projects, with those that a phone may unmute."),
});

const HOST_DETAILS = rows("docs/protocol.md, Host details", {
  "det-report": phone("Details are reported when they change and on a new connection; the relay keeps them."),
  "det-sealed": phone("With a paired phone the details are sealed, and only sealed ones of its host count."),
  "det-bounded": phone("Details are cut to what fits into a report."),
  "det-lines": phone(
    "The last line of a session's screen is only reported sealed, when it has changed and at most every 3 seconds.",
  ),
  "det-newest": phone("A phone never replaces details by older ones."),
});

const QUESTIONS_AND_ANSWERS = rows("docs/protocol.md, Questions and answers", {
  "type-ask": agents("ask carries kind, options, fields and deadline to the phones."),
  "type-answer": agents("ask.answer answers by inReplyTo."),
});

const RECEIPTS = rows("docs/protocol.md, Receipts", {
  "rcpt-path": main("A push goes through queued, delivered, possibly held, typed and submitted."),
  "rcpt-ends": main("Or it ends as refused, expired or unknown."),
  "rcpt-times": main("A receipt holds state, reason and the epoch milliseconds of each state."),
  "rcpt-reasons": main("Refusals and holds carry one of the stable reasons."),
  "rcpt-live": main("Phones see receipts live."),
});

const WEBSOCKET = rows("docs/protocol.md, WebSocket", {
  "ws-subprotocol": main("The subprotocol is svc.v1."),
  "ws-key-subprotocol": main("The key travels in the handshake as svc.key.<base64url>, or as X-API-Key."),
  "ws-401": main("A connection without a valid key gets 401 before any upgrade."),
  "ws-scope": main("A key without push:read is refused at the handshake."),
  "ws-no-key-in-url": main("A key in the URL is not accepted."),
  "ws-control": main("Control frames are JSON {event, id?, data}; an answer carries re."),
  "ws-hello": main(
    "hello is the first frame; the answer names version, protocol, limits and the relay's clock.",
  ),
  "ws-unknown": main("Both sides ignore and count unknown events."),
  "ws-hostile-json": main(
    "A frame whose JSON pretends to be of another type is ignored; a fault in handling one ends only its socket.",
  ),
  "ws-ping": main("Either side pings every 20 s; 40 s without a frame close the connection."),
  "ws-1012": main("A closing relay sends 1012."),
  "ws-backoff": main(
    "Clients reconnect with full jitter, 0.25 s doubling to 30 s, reset after 60 s of calm.",
  ),
  "ws-size": main("Text frames over 256 KB and binary frames over 1 MB close the connection with 1009."),
  "ev-hello": main("hello carries role, deviceId, name, version, publicKey and capabilities."),
  "ev-push-resend": main("push.new is sent again until it is acknowledged, also after a reconnect."),
  "ev-push-soon": main(
    "push.soon announces a message to a listener that has nothing in flight, before it is stored.",
  ),
  "ev-push-ack": main("push.ack is idempotent and accepted for an id that is already closed."),
  "ev-push-updated": main("push.updated brings the receipt to the phones."),
  "ev-sessions-answer": main("listener.sessions is answered by listener.stored or listener.rejected."),
  "ev-sessions-changed": main(
    "sessions.changed brings a listener's sessions, and whether it is online, to the phones.",
  ),
  "ev-pane-schema": main("The pane events have schemas: open, opened, closed, credit."),
  "ev-pane-open": mirror(
    "pane.open reaches the listener through the relay and is answered with pane.opened.",
  ),
  "ev-pane-closed": mirror("pane.closed ends a stream with its reason."),
  "ev-pane-credit": mirror("pane.credit limits what the listener sends."),
});

const INVENTORY_ENTRIES = rows("docs/protocol.md, Inventory entries", {
  "entry-fields": main(
    "An entry has name, project, agent, label, state, times, attached, cwd, title, size, muted, addressable.",
  ),
  "entry-states": main("The states are starting, working, waiting, idle and exited."),
  "entry-unknown": main("The relay keeps fields of an entry that it does not know."),
});

const BINARY_FRAMES = rows("docs/protocol.md, Binary frames", {
  "bin-header": main("A binary frame is kind u8, stream u32, payload, big-endian."),
  "bin-kinds": main("Kind 1 is a pane frame and kind 2 keystrokes; other kinds are not accepted."),
  "bin-plain": main("The plain payload is sequence u64 and bytes."),
  "bin-route": mirror("The relay routes by stream and never reads the payload."),
  "bin-tags": mirror("A pane frame's bytes begin with S, O, R or T."),
});

export const PROTOCOL_ROWS: readonly Requirement[] = [
  ...WIRE_PROTOCOL,
  ...HTTP,
  ...ERRORS,
  ...SENDING_LATER,
  ...CANCELLING,
  ...PUSHES,
  ...STARTING_AN_AGENT,
  ...ENDING_AN_AGENT,
  ...MUTING_A_PROJECT,
  ...HOST_DETAILS,
  ...QUESTIONS_AND_ANSWERS,
  ...RECEIPTS,
  ...WEBSOCKET,
  ...INVENTORY_ENTRIES,
  ...BINARY_FRAMES,
];
