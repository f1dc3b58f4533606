/** Every limit of the wire and of the product, each with its unit in its name. */

/** Version of the WebSocket protocol; also the subprotocol name is `svc.v1`. */
export const PROTOCOL_VERSION = 1;
export const SUBPROTOCOL = "svc.v1";
/** Prefix of the subprotocol entry that carries the base64url of the API key. */
export const KEY_SUBPROTOCOL_PREFIX = "svc.key.";

export const BODY_MAX_BYTES = 16_384;
export const DATA_MAX_BYTES = 4_096;
export const TITLE_MAX_CHARS = 200;
export const REQUEST_MAX_BYTES = 65_536;
/** Arrays and objects within one another in any JSON of a peer. */
export const JSON_MAX_DEPTH = 32;
/** Bad fields that one answer names. */
export const FIELD_FAULTS_MAX = 50;
export const TTL_DEFAULT_SECONDS = 3_600;
export const TTL_MIN_SECONDS = 10;
export const TTL_MAX_SECONDS = 604_800;

export const TEXT_FRAME_MAX_BYTES = 262_144;
export const BINARY_FRAME_MAX_BYTES = 1_048_576;
export const PING_INTERVAL_MS = 20_000;
export const SILENCE_LIMIT_MS = 40_000;
export const BACKOFF_MIN_MS = 250;
export const BACKOFF_MAX_MS = 30_000;
export const BACKOFF_CALM_MS = 60_000;
/** The relay sends a push again when no acknowledgement came in this time. */
export const PUSH_RESEND_MS = 5_000;

export const INJECTIONS_PER_MINUTE = 30;
export const KEYS_PER_SECOND = 200;
export const INVENTORY_POLL_MS = 5_000;
export const INVENTORY_HEARTBEAT_MS = 30_000;
export const SESSIONS_MAX = 500;

export const ASK_TIMEOUT_MIN_SECONDS = 120;
export const ASK_TIMEOUT_MAX_SECONDS = 600;
export const ASK_TIMEOUT_DEFAULT_SECONDS = 300;
export const PAIRING_TTL_SECONDS = 600;

export const PUSH_RETENTION_DAYS = 30;
export const RECEIPT_RETENTION_DAYS = 7;
export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;

/** HTTP requests per key: sustained rate and burst of the token bucket. */
export const HTTP_REQUESTS_PER_SECOND = 50;
export const HTTP_REQUESTS_BURST = 200;
