/** A push: the one message of the product, from a phone, a script, an agent's hook or an MCP tool. */
import * as z from "zod/mini";
import { utf8Length } from "../async/encodings.ts";
import { FORBIDDEN_CONTROLS, normalizeBody } from "./canonical.ts";
import { isNestedAtMost, parseJson } from "./json.ts";
import { maxLength } from "./lengths.ts";
import {
  BODY_MAX_BYTES,
  DATA_MAX_BYTES,
  JSON_MAX_DEPTH,
  SEALED_PHONES_MAX,
  TEXT_FRAME_MAX_BYTES,
  TITLE_MAX_CHARS,
  TTL_DEFAULT_SECONDS,
  TTL_MAX_SECONDS,
  TTL_MIN_SECONDS,
} from "./limits.ts";
import { isLateAnswerId } from "./late_answer.ts";
import { isSessionName } from "./names.ts";
import { PushId, PushState, type Reason, Receipt } from "./receipt.ts";

export { PushId };

/** The rules for a type of push that a listener acts on. */
interface ListenerRules {
  /** In its turn in the session's queue, or at once because it is about that queue or about what holds it up. */
  acts: "in turn" | "at once";
  /** It is only for a listener; without `targetDeviceId`, for the one that has the session. */
  isForListener: boolean;
  /** Only the user may send it: with a phone's key, or with a key that has no role. */
  isUsersOnly: boolean;
  /** It must have exactly one of `body` and `sealed`. */
  needsText?: true;
  /** The listener takes it without a text too. */
  isTextOptional?: true;
  /** The reason in the receipt when it names no session, `invalid_session_name` by default; `null` if it need not. */
  ifNoSession?: Reason | null;
  /** The reason in the receipt when the listener's step fails; `tmux_failed` by default. */
  fails?: Reason;
}

/** The rules for every other type of push. */
interface PhoneRules {
  /** Phones show it as a separate line. */
  isNotification?: true;
  acts?: never;
  /** Its text may be sealed for phones. */
  needsText?: never;
}

/** The push types of this version. Unknown types are stored and passed on; a listener answers `ignored`. */
export const PUSH_TYPES = {
  /** phone or script → listener: type `body` into `agentSessionName`. */
  "agent.command": { acts: "in turn", isForListener: true, isUsersOnly: false, needsText: true },
  /** phone → listener: start an agent in a known project, where the host allows it. */
  "agent.start": {
    acts: "in turn",
    isForListener: true,
    isUsersOnly: true,
    isTextOptional: true,
    ifNoSession: null,
    fails: "start_failed",
  },
  /** phone → listener: end the agent of `agentSessionName`, where the host allows it. */
  "agent.end": {
    acts: "at once",
    isForListener: true,
    isUsersOnly: true,
    needsText: true,
    fails: "end_failed",
  },
  /** phone → listener: mute or unmute the project of `agentSessionName`, or unmute a directory. */
  "project.mute": {
    acts: "at once",
    isForListener: true,
    isUsersOnly: true,
    needsText: true,
    ifNoSession: null,
    fails: "mute_failed",
  },
  /** phone → listener: do not submit the message that `inReplyTo` names, if that can still be prevented. */
  "agent.cancel": {
    acts: "at once",
    isForListener: true,
    isUsersOnly: false,
    isTextOptional: true,
    ifNoSession: null,
  },
  /** phone → listener: reject the dialog that the agent shows, or interrupt the agent, where the host allows it. */
  "dialog.answer": { acts: "at once", isForListener: true, isUsersOnly: true, needsText: true },
  /** MCP tool → phones: a question in `body`; `data` holds its kind, options, fields and deadline. */
  "ask": {},
  /** phone → MCP tool, or listener: the answer, `body` or `data`; `inReplyTo` names the question. */
  "ask.answer": { acts: "at once", isForListener: false, isUsersOnly: false, ifNoSession: "dialog_gone" },
  /** stop hook → phones: the agent ended its turn. */
  "agent.stop": { isNotification: true },
  /** notification hook → phones: the agent waits for a permission or for input. */
  "agent.attention": { isNotification: true },
  /** anyone → phones: a plain note. */
  "note": { isNotification: true },
  /** anyone → every device of a channel: a broadcast. */
  "broadcast": { isNotification: true },
} as const satisfies Readonly<Record<string, ListenerRules | PhoneRules>>;

type PushRules = Partial<ListenerRules> & Pick<PhoneRules, "isNotification">;

/** The types with this rule. */
type TypesWith<R extends PushRules> = {
  [T in keyof typeof PUSH_TYPES]: (typeof PUSH_TYPES)[T] extends R ? T : never;
}[keyof typeof PUSH_TYPES];

/** The types that a listener acts on, by when it does. */
export type InTurnType = TypesWith<{ acts: "in turn" }>;
export type AtOnceType = TypesWith<{ acts: "at once" }>;
export type NotificationType = TypesWith<{ isNotification: true }>;

/** A map, because a lookup in an object would call `toString` of a hostile value. */
const RULES: ReadonlyMap<string, PushRules> = new Map(Object.entries(PUSH_TYPES));

/**
 * Returns the rules of a type; none for an unknown one. At run time `type` may be any value, because a request's checks
 * also run when its fields are bad.
 */
export function rulesOf(type: string): PushRules {
  return RULES.get(type) ?? {};
}

export function isInTurn(type: string): type is InTurnType {
  return rulesOf(type).acts === "in turn";
}

export function isAtOnce(type: string): type is AtOnceType {
  return rulesOf(type).acts === "at once";
}

export function isNotification(type: string): type is NotificationType {
  return rulesOf(type).isNotification === true;
}

const PushTypeName = z.string().check(
  z.regex(/^[a-z][a-z0-9.]{0,63}$/, "lower-case letters, digits and dots"),
);
export const DeviceId = z.string().check(
  z.regex(/^dev_[A-Za-z0-9_]{1,64}$/, "an identifier with the prefix dev_"),
);
export const SessionName = z.string().check(
  z.refine(isSessionName, "1 to 128 characters of A-Z a-z 0-9 . _ -"),
);

/**
 * 1 to 16,384 UTF-8 bytes after CRLF becomes LF, not only blanks; no control character except LF and TAB; no lone
 * surrogate. Blanks alone are refused because no screen shows that they were typed: they would stay in the composer,
 * before the next message.
 */
export const Body = z.pipe(
  z.string(),
  z.pipe(
    z.transform(normalizeBody),
    z.string().check(
      z.refine((body) => body.trim() !== "", "at least one character that is not blank"),
      z.refine((body) => utf8Length(body) <= BODY_MAX_BYTES, `at most ${BODY_MAX_BYTES} UTF-8 bytes`),
      z.refine((body) => !FORBIDDEN_CONTROLS.test(body), "no control character except line feed and tab"),
      z.refine((body) => body.isWellFormed(), "no lone surrogate"),
    ),
  ),
);

const base64url = z.string().check(z.regex(/^[A-Za-z0-9_-]*$/, "base64url without padding"));

/** A public key as text: a P-256 point takes up to 88 characters. */
export const PublicKey = z.string().check(maxLength(200));

/** HPKE modes (RFC 9180, section 5): `psk` includes the pairing's secret as pre-shared key. */
export const SealMode = z.enum(["base", "psk"]);

/** A body sealed for the target device: HPKE single-shot (`enc`, `ciphertext`), both base64url. */
export const SealedBody = z.object({
  mode: SealMode,
  enc: base64url.check(maxLength(200)),
  ciphertext: base64url.check(maxLength(24_000)),
});
export type SealedBody = z.infer<typeof SealedBody>;

/** A text encrypted once for several phones; its key is sealed for each of them (HPKE single-shot, mode psk). */
export const SealedForPhones = z.object({
  /** The listener whose pairings apply. */
  host: DeviceId,
  /** AES-256-GCM with a key generated for this text. */
  nonce: base64url.check(maxLength(16)),
  ciphertext: base64url.check(maxLength(32_000)),
  /** That key sealed for each phone, by device id. */
  keys: z.record(
    DeviceId,
    z.object({ enc: base64url.check(maxLength(200)), ciphertext: base64url.check(maxLength(100)) }),
  ).check(z.refine(
    (keys) => Object.keys(keys).length <= SEALED_PHONES_MAX,
    `at most ${SEALED_PHONES_MAX} phones`,
  )),
});
export type SealedForPhones = z.infer<typeof SealedForPhones>;

const Data = z.record(z.string(), z.unknown()).check(
  z.refine(
    (data) => isNestedAtMost(data, JSON_MAX_DEPTH) && utf8Length(JSON.stringify(data)) <= DATA_MAX_BYTES,
    `at most ${DATA_MAX_BYTES} bytes as JSON, nested at most ${JSON_MAX_DEPTH} deep`,
  ),
);

/** `data` of an `agent.start`, or the JSON text that it seals. It can name no unknown path and no agent arguments. */
export const StartData = z.object({
  /** The agent's command word: `svc <agent>`. */
  agent: z.string().check(z.regex(/^[a-z][a-z0-9-]{0,31}$/, "the word after svc that starts the agent")),
  /** The project name from the inventory. */
  project: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,80}$/, "1 to 80 characters of A-Z a-z 0-9 _ -")),
  /** Which directory, when the host knows several with this name. */
  directory: z.optional(z.string().check(z.startsWith("/", "an absolute path"), maxLength(1_000))),
});
export type StartData = z.infer<typeof StartData>;

/** Undefined when the push does not describe an agent to start. `body` is the opened sealed text. */
export function startDataOf(
  push: { sealed?: unknown; body?: string | undefined; data?: unknown },
): StartData | undefined {
  const asked = push.sealed === undefined ? push.data : parseJson(push.body ?? "")?.value;
  return StartData.safeParse(asked).data;
}

/** Fields that a sender sets; the stored push has the same ones. */
const pushFields = {
  type: PushTypeName,
  targetDeviceId: z.optional(DeviceId),
  agentSessionName: z.optional(SessionName),
  body: z.optional(Body),
  sealed: z.optional(SealedBody),
  sealedFor: z.optional(SealedForPhones),
  title: z.optional(z.string().check(maxLength(TITLE_MAX_CHARS))),
  data: z.optional(Data),
  inReplyTo: z.optional(PushId),
};

interface Addressed {
  id?: unknown;
  type: string;
  agentSessionName?: string | undefined;
  body?: unknown;
  sealed?: unknown;
  data?: unknown;
  inReplyTo?: unknown;
}

/** When a message is typed, if not at once: `data.later` of an `agent.command`. */
export const Later = z.discriminatedUnion("kind", [
  /** At this time, in epoch milliseconds by the relay's clock. */
  z.object({ kind: z.literal("at"), at: z.int().check(z.minimum(0)) }),
  /** Once the agent is idle. */
  z.object({ kind: z.literal("idle") }),
  /** Once the agent's usage limit has reset. */
  z.object({ kind: z.literal("reset") }),
]);
export type Later = z.infer<typeof Later>;

/** Undefined for a message that is typed at once; `invalid` if `data.later` is not a time that this version knows. */
export function laterOf(
  { data }: { data?: Readonly<Record<string, unknown>> | undefined },
): Later | "invalid" | undefined {
  const later = data?.["later"];
  return later === undefined ? undefined : Later.safeParse(later).data ?? "invalid";
}

/** The text that a sealed message is bound to. */
export function laterText(later: Later): string {
  return later.kind === "at" ? `later at ${later.at}` : `later ${later.kind}`;
}

/** Runs these checks even when other fields are bad, so that one answer lists every fault. */
const isObject = ({ value }: { value: unknown }): boolean => typeof value === "object" && value !== null;
const hasTarget = (push: Addressed): boolean =>
  push.type !== "agent.command" || push.agentSessionName !== undefined;
const hasText = (push: Addressed): boolean =>
  rulesOf(push.type).needsText !== true ||
  (push.body === undefined) !== (push.sealed === undefined);
const hasCancelled = (push: Addressed): boolean =>
  push.type !== "agent.cancel" || push.inReplyTo !== undefined;
const namesAnother = ({ id, inReplyTo }: Addressed): boolean => inReplyTo === undefined || inReplyTo !== id;
const hasTime = ({ data }: Addressed): boolean =>
  typeof data !== "object" || data === null || laterOf({ data: { ...data } }) !== "invalid";
const hasStart = (push: Addressed): boolean =>
  push.type !== "agent.start" || push.sealed !== undefined || StartData.safeParse(push.data).success;

const SendersId = PushId.check(
  z.refine((id) => !isLateAnswerId(id), "a UUID of a version other than 8, which the relay itself uses"),
);

/** `POST /pushes/send` (docs/specification.md, Pushes). */
export const PushRequest = z.object({
  id: z.optional(SendersId),
  ...pushFields,
  ttlSeconds: z._default(
    z.int().check(z.minimum(TTL_MIN_SECONDS), z.maximum(TTL_MAX_SECONDS)),
    TTL_DEFAULT_SECONDS,
  ),
}).check(
  z.refine(hasTarget, {
    path: ["agentSessionName"],
    error: "required for agent.command",
    when: isObject,
  }),
  z.refine(hasText, {
    path: ["body"],
    error: "exactly one of body and sealed for this type",
    when: isObject,
  }),
  z.refine(hasStart, {
    path: ["data"],
    error: "agent and project for agent.start, unless it is sealed",
    when: isObject,
  }),
  z.refine(hasTime, {
    path: ["data", "later"],
    error: "a time, idle or reset",
    when: isObject,
  }),
  z.refine(hasCancelled, {
    path: ["inReplyTo"],
    error: "required for agent.cancel",
    when: isObject,
  }),
  z.refine(namesAnother, {
    path: ["inReplyTo"],
    error: "the id of another push",
    when: isObject,
  }),
);
export type PushRequest = z.infer<typeof PushRequest>;
/** A push as a sender writes it: fields with a default are optional. */
export type PushRequestInput = z.input<typeof PushRequest>;

/** The answer to an accepted push: 202, sent only once the push is durable. */
export const PushAccepted = z.object({ id: PushId, state: PushState, expiresAt: z.number() });
export type PushAccepted = z.infer<typeof PushAccepted>;

/**
 * A stored push. Times are epoch milliseconds; `from` is the sending device or key. The session name and body may be any
 * string here: the listener validates them itself and answers `invalid_session_name` or `invalid_body`.
 */
export const Push = z.object({
  id: PushId,
  ...pushFields,
  agentSessionName: z.optional(z.string().check(maxLength(1_000))),
  body: z.optional(z.string().check(maxLength(TEXT_FRAME_MAX_BYTES))),
  from: z.string().check(maxLength(100)),
  createdAt: z.number(),
  expiresAt: z.number(),
});
export type Push = z.infer<typeof Push>;

const LISTENER_PREFIX = "dev_listener_";

/** The device id of the host that a push comes from, if the push names it. What the host sealed counts most. */
export function hostOf(
  { sealedFor, data, from }: Pick<Push, "sealedFor" | "data" | "from">,
): string | undefined {
  const named = sealedFor?.host ?? data?.["listener"];
  if (typeof named === "string") return named;
  return from.startsWith(LISTENER_PREFIX) ? from : undefined;
}

/** A push with its receipt: `GET /pushes/{id}` and `GET /pushes`. */
export const PushRecord = z.object({ push: Push, receipt: Receipt });
export type PushRecord = z.infer<typeof PushRecord>;

/** `GET /pushes`: newest last; `next` is the cursor of the next page in the same direction, absent at the end. */
export const PushPage = z.object({ pushes: z.array(PushRecord), next: z.optional(z.string()) });
export type PushPage = z.infer<typeof PushPage>;
