/** Questions that the views ask of the state. */
import type { Message } from "./message.ts";
import type { SessionName } from "./names.ts";
import type { PhoneState } from "./state.ts";

/** The session's messages, oldest first. A push without a device is shown where its name fits. */
export function messagesOf(state: PhoneState, name: SessionName): Message[] {
  return [...state.messages.values()]
    .filter(({ deviceId, session }) =>
      session === name.session && (deviceId === name.deviceId || deviceId === "")
    )
    .sort((one, other) => one.createdAt - other.createdAt);
}

/** True when the same text was sent after it: there is no more need to offer that. */
export function isSentAgain(message: Message, messages: readonly Message[]): boolean {
  return messages.some(({ body, createdAt }) => body === message.body && createdAt > message.createdAt);
}

/** Messages that the relay has not taken, in the order in which they were written. */
export function outboxOf(state: PhoneState): Message[] {
  return [...state.messages.values()]
    .filter(({ progress }) => progress.kind === "outbox")
    .sort((one, other) => one.createdAt - other.createdAt);
}

/** The relay's clock now, in epoch milliseconds. */
export function relayNow(state: PhoneState, now: number): number {
  return now + state.clockOffsetMs;
}
