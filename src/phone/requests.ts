/** Requests to a host other than messages, and their outcomes. */
import { TTL_MIN_SECONDS } from "../protocol/limits.ts";
import type { StartData } from "../protocol/push.ts";
import { REASONS } from "../protocol/reasons.ts";
import { dialogAnswer, type DialogView } from "./attention.ts";
import type { Message, SendFailure } from "./message.ts";
import type { HostSession } from "./sessions.ts";
import type { PhoneState } from "./state.ts";
import type { OutboxEntry } from "./storage.ts";
import { STRINGS } from "./strings.ts";

/** A start that the host has not received by then is no longer wanted. */
const START_TTL_SECONDS = 60;

/** How long a request may wait on the phone: longer than the phone's clock may be off. */
export const ASKED_MAX_MS = 600_000;
/** The failure of a request that waited on the phone for too long. */
export const OUTDATED = "outdated";

/** True if the request waited so long that carrying it out would surprise the user. */
export function isOutdated({ request, dialog, createdAt }: Message, now: number): boolean {
  return (request ?? dialog) !== undefined && now - createdAt > ASKED_MAX_MS;
}

export type RequestContent = Omit<OutboxEntry, "id" | "createdAt">;

export function startRequest(deviceId: string, start: StartData): RequestContent {
  const body = JSON.stringify(start);
  return { deviceId, session: "", body, request: "agent.start", ttlSeconds: START_TTL_SECONDS };
}

/** Ends the agent of this very session. */
export function endRequest({ deviceId, entry: { name, createdAt = 0 } }: HostSession): RequestContent {
  const body = `end ${createdAt}`;
  return { deviceId, session: name, body, request: "agent.end", ttlSeconds: TTL_MIN_SECONDS };
}

/** Mutes or unmutes the project of this very session. */
export function muteRequest(
  { deviceId, entry: { name, createdAt = 0 } }: HostSession,
  { muted }: { muted: boolean },
): RequestContent {
  const body = `${muted ? "mute" : "unmute"} ${createdAt}`;
  return { deviceId, session: name, body, request: "project.mute", ttlSeconds: TTL_MIN_SECONDS };
}

/** Unmutes one of the directories in the host's details. */
export function unmuteRequest(deviceId: string, directory: string): RequestContent {
  const body = `unmute ${directory}`;
  return { deviceId, session: "", body, request: "project.mute", ttlSeconds: TTL_MIN_SECONDS };
}

/** Acts only on this very dialog, if it is still open. */
export function dialogRequest(
  { session: { deviceId, entry }, id }: DialogView,
  action: "reject" | "interrupt",
): RequestContent {
  const body = dialogAnswer(action, id);
  return { deviceId, session: entry.name, body, dialog: id, ttlSeconds: TTL_MIN_SECONDS };
}

export type RequestProgress =
  /** `unsaved`: it would not survive a reload yet. */
  | { kind: "pending"; unsaved?: true | undefined }
  /** `session`: the one that was started. */
  | { kind: "done"; session: string | undefined }
  /** `why`: in a sentence or two, with what to do about it. */
  | { kind: "failed"; why: string }
  /** The outcome is not known. */
  | { kind: "unclear" };

/** The progress of the request with this id. `now` is by the relay's clock. */
export function progressOf(
  { messages }: Pick<PhoneState, "messages">,
  { id, now }: { id: string; now: number },
): RequestProgress {
  const message = messages.get(id);
  return message === undefined ? { kind: "pending", unsaved: true } : requestProgress(message, now);
}

/** The id of the newest pending request to this host with this body, if there is one. */
export function openRequest(
  { messages }: Pick<PhoneState, "messages">,
  { deviceId, body, now }: { deviceId: string; body: string; now: number },
): string | undefined {
  return [...messages.values()].findLast((message) =>
    message.request !== undefined && message.deviceId === deviceId && message.body === body &&
    requestProgress(message, now).kind === "pending"
  )?.id;
}

export function requestProgress({ progress }: Message, now: number): RequestProgress {
  switch (progress.kind) {
    case "outbox":
      return { kind: "pending", unsaved: progress.unsaved };
    case "failed":
      return { kind: "failed", why: failureDetail(progress.failure) };
    case "taken": {
      const { receipt: { state, reason, final, agentSessionName: session, deliverable }, expiresAt } =
        progress;
      if (state === "submitted") return { kind: "done", session };
      if (state === "refused" || state === "ignored") return { kind: "failed", why: reasonText(reason) };
      if (state === "expired" && !deliverable) return { kind: "failed", why: STRINGS.receipt.expired };
      return final || (expiresAt > 0 && now > expiresAt + ANSWER_LIMIT_MS)
        ? { kind: "unclear" }
        : { kind: "pending" };
    }
  }
}

/** A start that the host received at the last moment takes this long at most. */
const ANSWER_LIMIT_MS = 60_000;

function reasonText(reason: string | undefined): string {
  const known = Object.keys(REASONS).find((one) => one === reason) as keyof typeof REASONS | undefined;
  if (known === undefined) return STRINGS.receipt.refusedOther(reason ?? "");
  return `${STRINGS.reasons[known]} ${STRINGS.advice[known]}`;
}

export function failureDetail({ code, message }: SendFailure): string {
  if (code === OUTDATED) return STRINGS.receipt.expired;
  return STRINGS.receipt.failures[code] ?? (/[.!?]$/.test(message) ? message : `${message}.`);
}
