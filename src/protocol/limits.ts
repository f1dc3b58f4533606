/** Every limit of the wire and of the product; each name ends with its unit. */

/** Version of the WebSocket protocol. */
export const PROTOCOL_VERSION = 1;
export const SUBPROTOCOL = "svc.v1";
/** Prefix of the subprotocol entry that carries the API key in base64url. */
export const KEY_SUBPROTOCOL_PREFIX = "svc.key.";

/** UTF-8 bytes of a body. */
export const BODY_MAX_BYTES = 16_384;
/** Bytes of a push's data as JSON. */
export const DATA_MAX_BYTES = 4_096;
/** Characters of a push's title. */
export const TITLE_MAX_CHARS = 200;
/** Bytes of a request. */
export const REQUEST_MAX_BYTES = 65_536;
/** Nesting depth of arrays and objects in a peer's JSON. */
export const JSON_MAX_DEPTH = 32;
/** Bad fields listed in one answer. */
export const FIELD_FAULTS_MAX = 50;
/** Time to live of a push when the sender sets none. */
export const TTL_DEFAULT_SECONDS = 3_600;
/** Shortest time to live of a push. */
export const TTL_MIN_SECONDS = 10;
/** Longest time to live of a push. */
export const TTL_MAX_SECONDS = 604_800;
/** How far the clocks of a phone, a host and a relay may be apart. */
export const SKEW_MS = 600_000;

/** Bytes of a control frame; a longer one closes the connection with 1009. */
export const TEXT_FRAME_MAX_BYTES = 262_144;
/** Bytes of a binary frame; a longer one closes the connection with 1009. */
export const BINARY_FRAME_MAX_BYTES = 1_048_576;
/** How often each side pings. */
export const PING_INTERVAL_MS = 20_000;
/** A side that receives nothing for this long closes the connection. */
export const SILENCE_LIMIT_MS = 40_000;
/** First upper bound of the random delay before a client reconnects; it doubles each time. */
export const BACKOFF_MIN_MS = 250;
/** Last upper bound of that delay. */
export const BACKOFF_MAX_MS = 30_000;
/** A connection that lasted this long resets the delay to its first bound. */
export const BACKOFF_CALM_MS = 60_000;
/** The relay resends a push that was not acknowledged within this time. */
export const PUSH_RESEND_MS = 5_000;

/** Messages typed into one session per minute. */
export const INJECTIONS_PER_MINUTE = 30;
/** Keys typed into one session per second. */
export const KEYS_PER_SECOND = 200;
/** Characters of typed text in one keystroke frame; longer text is a paste. */
export const KEY_TEXT_MAX_CHARS = 256;
/** Bytes of a file from a phone that one frame holds. */
export const UPLOAD_CHUNK_BYTES = 16_384;
/** Chunks that a phone may send ahead of the host's answers: few, so that pings get through on a slow connection. */
export const UPLOAD_CHUNKS_AHEAD_MAX = 2;
/** Bytes of a file from a phone, unless the host's `uploadMaxBytes` sets another limit. */
export const UPLOAD_DEFAULT_MAX_BYTES = 10_485_760;
/** The most that `uploadMaxBytes` may be. */
export const UPLOAD_CONFIG_MAX_BYTES = 104_857_600;
/** Bytes of a mirror that may be in flight to a phone; `pane.credit` grants as many bytes as the phone has rendered. */
export const MIRROR_CREDIT_BYTES = 262_144;
/** How often a mirror sends its heartbeat. */
export const MIRROR_PULSE_MS = 5_000;
/** A phone that receives no frame for this long reports that the screen may be stale. */
export const MIRROR_SILENT_MS = 15_000;
/** Lines above the screen that a phone may request. */
export const SCROLLBACK_LINES_MAX = 2_000;
/** Columns or rows of a pane. */
export const PANE_SIZE_MAX = 1_000;
/** How often the listener reads its sessions. */
export const INVENTORY_POLL_MS = 5_000;
/** How often an unchanged inventory is sent again. */
export const INVENTORY_HEARTBEAT_MS = 30_000;
/** Sessions in one inventory. */
export const SESSIONS_MAX = 200;

/** Shortest time that an agent waits for an answer. */
export const ASK_TIMEOUT_MIN_SECONDS = 120;
/** Longest time that an agent waits for an answer. */
export const ASK_TIMEOUT_MAX_SECONDS = 600;
/** Time that an agent waits for an answer when the question sets none. */
export const ASK_TIMEOUT_DEFAULT_SECONDS = 300;
/** Options of one question. */
export const ASK_OPTIONS_MAX = 20;
/** Fields of one form. */
export const ASK_FIELDS_MAX = 20;
/** Bytes, as shown, of a request for permission that a phone may allow; a phone fetches one that is longer than a push's body. */
export const CARD_REQUEST_MAX_BYTES = 2_097_152;
/** Characters (UTF-16 code units) of such a request that a host sends at a time. */
export const CARD_PART_CHARS = 32_768;
/** Entries of the audit log that a host sends at a time. */
export const AUDIT_PAGE_MAX = 40;
/** The newest entries of the audit log that a phone can read; `svc logs --audit` shows all. */
export const AUDIT_ENTRIES_SHOWN_MAX = 2_000;
/** Characters of an option or of a field's label. */
export const ASK_LABEL_MAX_CHARS = 200;
/** Time to live of an unanswered question. */
export const ASK_TTL_SECONDS = 86_400;
/** How long an answer waits for an asker that lost its connection before it is typed into the session. */
export const ASK_RETURN_MS = 10_000;
/** Phones that one text is sealed for; with more, the most recently paired ones. */
export const SEALED_PHONES_MAX = 50;
/** A host's details as JSON: with encryption they must fit into `SealedForPhones`. */
export const HOST_DETAILS_MAX_BYTES = 23_000;
/** Time to live of a pairing code. */
export const PAIRING_TTL_SECONDS = 600;

/** How long the relay keeps pushes. */
export const PUSH_RETENTION_DAYS = 30;
/** How long the relay keeps expired pushes. */
export const RECEIPT_RETENTION_DAYS = 7;
/** Pushes on a page of the history by default. */
export const PAGE_LIMIT_DEFAULT = 50;
/** Most pushes on a page of the history. */
export const PAGE_LIMIT_MAX = 200;

/** Devices of one account. */
export const DEVICES_PER_ACCOUNT_MAX = 1_000;
/** Devices that one key may own, including phones paired with its codes. */
export const DEVICES_PER_KEY = 200;
/** Bytes of a phone's Web Push subscription as JSON, with its preferences. */
export const WEB_PUSH_SUBSCRIPTION_MAX_BYTES = 16_384;
/** Unclaimed pairing codes of one key. */
export const OPEN_PAIRINGS_PER_KEY = 20;
/** Claimed pairing codes that are kept for one key: the newest ones, until their retention ends. */
export const CLAIMED_PAIRINGS_PER_KEY = 100;
/** Bytes of pushes that one key may store in a day, including across restarts of the relay; the budget refills evenly over the day. */
export const STORED_PER_DAY_MAX_BYTES = 67_108_864;
/** Bytes of a page of the history; a page ends early, with a cursor, when the next push does not fit. */
export const PAGE_MAX_BYTES = 1_048_576;
/** Bytes of pages that one key may read per second, sustained. */
export const PAGE_BYTES_PER_SECOND = 2_097_152;
/** Bytes of pages that one key may read in a burst. */
export const PAGE_BYTES_BURST = 8_388_608;
/** Inventories that one key may report per second, sustained. */
export const INVENTORIES_PER_SECOND = 5;
/** Inventories that one key may report in a burst. */
export const INVENTORIES_BURST = 50;
/** Bytes of inventories that one key may report per second, sustained. */
export const INVENTORY_BYTES_PER_SECOND = 262_144;
/** Bytes of inventories that one key may report in a burst. */
export const INVENTORY_BYTES_BURST = 2_097_152;
/** Bytes of the inventories that all devices of one key may have stored. */
export const INVENTORIES_PER_KEY_MAX_BYTES = 2_097_152;
/** Bytes of a keystroke frame; the longest paste fits. */
export const KEY_FRAME_MAX_BYTES = 131_072;
/** Bytes of control frames that one key may send per second, sustained. */
export const TEXT_BYTES_PER_SECOND = 1_048_576;
/** Bytes of control frames that one key may send in a burst. */
export const TEXT_BYTES_BURST = 8_388_608;
/** Bytes of keystroke frames that one key may send per second, sustained. */
export const KEY_BYTES_PER_SECOND = 262_144;
/** Bytes of keystroke frames that one key may send in a burst. */
export const KEY_BYTES_BURST = 1_048_576;
/** Plain HTTP connections of one address; beyond it, one that is idle or does not read is dropped. */
export const CONNECTIONS_PER_ADDRESS_MAX = 512;
/** Bytes of the page and of other unauthenticated answers to one address per second, sustained. */
export const OPEN_BYTES_PER_SECOND = 8_388_608;
/** Bytes of such answers in a burst. */
export const OPEN_BYTES_BURST = 33_554_432;
/** Bytes of answers that one address may leave unread. */
export const UNSENT_PER_ADDRESS_MAX_BYTES = 33_554_432;
/** Mirrors that all WebSockets of one key may have open. */
export const STREAMS_PER_KEY = 128;
/** Unread bytes of all WebSockets of one key together. */
export const UNREAD_PER_KEY_MAX_BYTES = 33_554_432;
/** Bytes of unfinished messages of all WebSockets of one key together. */
export const UNFINISHED_PER_KEY_MAX_BYTES = 4_194_304;

/** WebSockets that one key may have open. */
export const SOCKETS_PER_KEY = 256;
/** HTTP requests per key and second, sustained. */
export const HTTP_REQUESTS_PER_SECOND = 50;
/** HTTP requests per key in a burst. */
export const HTTP_REQUESTS_BURST = 200;
/** Refusals per key and second, sustained, that are answered at once; later ones are delayed. */
export const REFUSALS_PER_SECOND = 10;
/** Refusals per key in a burst that are answered at once. */
export const REFUSALS_BURST = 50;
/** Wrong pairing codes per address and minute, sustained. */
export const WRONG_CLAIMS_PER_MINUTE = 12;
/** Wrong pairing codes per address in a burst. */
export const WRONG_CLAIMS_BURST = 10;
/** HTTP requests per key and second, sustained, that an overloaded relay works on at once; more wait for their turn. */
export const OVERLOAD_REQUESTS_PER_SECOND = 2;
/** HTTP requests per key in a burst that an overloaded relay works on at once. */
export const OVERLOAD_REQUESTS_BURST = 20;
