/** Every limit of the wire and of the product, each with its unit in its name. */

/** Version of the WebSocket protocol; also the subprotocol name is `svc.v1`. */
export const PROTOCOL_VERSION = 1;
export const SUBPROTOCOL = "svc.v1";
/** Prefix of the subprotocol entry that carries the base64url of the API key. */
export const KEY_SUBPROTOCOL_PREFIX = "svc.key.";

/** UTF-8 bytes of a body. */
export const BODY_MAX_BYTES = 16_384;
/** Bytes of a push's data as JSON. */
export const DATA_MAX_BYTES = 4_096;
/** Characters of a push's title. */
export const TITLE_MAX_CHARS = 200;
/** Bytes of a request. */
export const REQUEST_MAX_BYTES = 65_536;
/** Arrays and objects within one another in any JSON of a peer. */
export const JSON_MAX_DEPTH = 32;
/** Bad fields that one answer names. */
export const FIELD_FAULTS_MAX = 50;
/** Life of a push when its sender says nothing. */
export const TTL_DEFAULT_SECONDS = 3_600;
/** Shortest life of a push. */
export const TTL_MIN_SECONDS = 10;
/** Longest life of a push. */
export const TTL_MAX_SECONDS = 604_800;

/** Bytes of a control frame; over it the connection closes with 1009. */
export const TEXT_FRAME_MAX_BYTES = 262_144;
/** Bytes of a binary frame; over it the connection closes with 1009. */
export const BINARY_FRAME_MAX_BYTES = 1_048_576;
/** Either side pings this often. */
export const PING_INTERVAL_MS = 20_000;
/** Without a frame for this long a side closes the connection. */
export const SILENCE_LIMIT_MS = 40_000;
/** First bound of the random wait before a client comes back; it doubles. */
export const BACKOFF_MIN_MS = 250;
/** Last bound of that wait. */
export const BACKOFF_MAX_MS = 30_000;
/** After a connection of this length the wait begins at its first bound again. */
export const BACKOFF_CALM_MS = 60_000;
/** The relay sends a push again when no acknowledgement came in this time. */
export const PUSH_RESEND_MS = 5_000;

/** Messages typed into one session. */
export const INJECTIONS_PER_MINUTE = 30;
/** Keys typed into one session. */
export const KEYS_PER_SECOND = 200;
/** Characters of typed text in one keystroke frame; longer text is a paste. */
export const KEY_TEXT_MAX_CHARS = 256;
/** Bytes of a mirror that may be under way to a phone; `pane.credit` allows as many again as the phone has shown. */
export const MIRROR_CREDIT_BYTES = 262_144;
/** A mirror sends its pulse this often. */
export const MIRROR_PULSE_MS = 5_000;
/** Without a frame for this long a phone says that the screen may be old. */
export const MIRROR_SILENT_MS = 15_000;
/** Lines above the screen that a phone may ask for. */
export const SCROLLBACK_LINES_MAX = 2_000;
/** Columns or rows of a pane. */
export const PANE_SIZE_MAX = 1_000;
/** The listener reads its sessions this often. */
export const INVENTORY_POLL_MS = 5_000;
/** An unchanged inventory is sent again after this. */
export const INVENTORY_HEARTBEAT_MS = 30_000;
/** Sessions in one inventory. */
export const SESSIONS_MAX = 200;

/** Shortest wait of a question. */
export const ASK_TIMEOUT_MIN_SECONDS = 120;
/** Longest wait of a question. */
export const ASK_TIMEOUT_MAX_SECONDS = 600;
/** Wait of a question that names none. */
export const ASK_TIMEOUT_DEFAULT_SECONDS = 300;
/** Options of one question. */
export const ASK_OPTIONS_MAX = 20;
/** Fields of one form. */
export const ASK_FIELDS_MAX = 20;
/** Characters of an option, or of a field's label. */
export const ASK_LABEL_MAX_CHARS = 200;
/** Life of a question that nobody answers. */
export const ASK_TTL_SECONDS = 86_400;
/** How long an answer waits for an asker that lost its connection; then it is typed. */
export const ASK_RETURN_MS = 10_000;
/** Phones that one sealed text is for; of more, those that were paired last. */
export const SEALED_PHONES_MAX = 50;
/** Life of a pairing code. */
export const PAIRING_TTL_SECONDS = 600;

/** The relay forgets pushes after this. */
export const PUSH_RETENTION_DAYS = 30;
/** The relay forgets expired pushes after this. */
export const RECEIPT_RETENTION_DAYS = 7;
/** Pushes on a page of the history. */
export const PAGE_LIMIT_DEFAULT = 50;
/** Most pushes on a page of the history. */
export const PAGE_LIMIT_MAX = 200;

/** Devices of one account. */
export const DEVICES_PER_ACCOUNT_MAX = 1_000;
/** Devices that one key may own, with those that its pairing codes made. */
export const DEVICES_PER_KEY = 200;
/** Pairing codes of one key that nobody has claimed. */
export const OPEN_PAIRINGS_PER_KEY = 20;
/** Bytes of pushes that one key may store in a day; they come back evenly over the day. */
export const STORED_PER_DAY_MAX_BYTES = 67_108_864;
/** Bytes of a page of the history; it ends early, with a cursor, where the next push would not fit. */
export const PAGE_MAX_BYTES = 1_048_576;
/** Bytes of pages that one key may read, sustained. */
export const PAGE_BYTES_PER_SECOND = 2_097_152;
/** Bytes of pages that one key may read at once. */
export const PAGE_BYTES_BURST = 8_388_608;
/** Inventories that one key may report, sustained. */
export const INVENTORIES_PER_SECOND = 5;
/** Inventories that one key may report at once. */
export const INVENTORIES_BURST = 50;
/** Bytes of inventories that one key may report, sustained. */
export const INVENTORY_BYTES_PER_SECOND = 262_144;
/** Bytes of inventories that one key may report at once. */
export const INVENTORY_BYTES_BURST = 2_097_152;
/** Bytes of a keystroke frame; the longest paste fits. */
export const KEY_FRAME_MAX_BYTES = 131_072;
/** Bytes of keystroke frames that one key may send, sustained. */
export const KEY_BYTES_PER_SECOND = 262_144;
/** Bytes of keystroke frames that one key may send at once. */
export const KEY_BYTES_BURST = 1_048_576;
/** Connections of one address that are no WebSocket; of more, one that is idle or does not read is dropped. */
export const CONNECTIONS_PER_ADDRESS_MAX = 512;
/** Bytes of the page and of other answers without a key that one address gets, sustained. */
export const OPEN_BYTES_PER_SECOND = 8_388_608;
/** Bytes of such answers at once. */
export const OPEN_BYTES_BURST = 33_554_432;
/** Bytes of answers that one address may leave unread. */
export const UNSENT_PER_ADDRESS_MAX_BYTES = 33_554_432;
/** Bytes that wait to be read by the WebSockets of one key, together. */
export const UNREAD_PER_KEY_MAX_BYTES = 33_554_432;

/** WebSockets that one key may have open. */
export const SOCKETS_PER_KEY = 256;
/** HTTP requests per key, sustained. */
export const HTTP_REQUESTS_PER_SECOND = 50;
/** HTTP requests per key at once. */
export const HTTP_REQUESTS_BURST = 200;
