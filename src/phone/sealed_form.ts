/** Seals a message for a paired host, with its expiry and what it is bound to. */
import type { PairedHost } from "../client/claim_pairing.ts";
import { sealMessage } from "../crypto/stored_message.ts";
import type { Later } from "../protocol/push.ts";
import { HOST_REQUESTS, type HostRequest } from "./message.ts";
import type { SentForm } from "./pairing_storage.ts";
import { ASKED_MAX_MS } from "./requests.ts";

/**
 * How long a sealed message is valid: a relay that withholds it for longer can no longer deliver it. It is resent as it
 * was sealed, even by a phone that was offline for hours.
 */
export const SEALED_LIFE_MS = 86_400_000;

/** A message or an answer to be sent. */
export interface OutgoingMessage {
  id: string;
  type: "agent.command" | "agent.cancel" | "dialog.answer" | "ask.answer" | HostRequest;
  deviceId: string;
  session: string;
  body: string;
  /** The text to seal, if that is not the body. */
  text?: string;
  /** The host itself acknowledges it, rather than a program that shares no secret with this phone. */
  byHost?: boolean;
  sendAnyway?: boolean | undefined;
  later?: Later | undefined;
  ttlSeconds?: number | undefined;
  /** For a cancellation, the id of the message; for an answer, of the question. */
  inReplyTo?: string | undefined;
  /** The id of the message whose text this one repeats. */
  again?: string | undefined;
}

export async function sealedForm(
  host: PairedHost,
  { message, sentAt, counter }: { message: OutgoingMessage; sentAt: number; counter: number },
): Promise<SentForm> {
  const { id, type, deviceId, session, body, text = body } = message;
  const { sendAnyway, later, inReplyTo, byHost = type !== "ask.answer" } = message;
  const boundTo = {
    id,
    type,
    from: host.phone,
    targetDeviceId: deviceId,
    agentSessionName: session,
    sendAnyway: sendAnyway === true,
    later,
  };
  const notAfter = sentAt + lifeMs(message);
  const { publicKey, secret } = host;
  return {
    id,
    sentAt,
    notAfter,
    form: await sealMessage({ body: text, notAfter, counter }, { boundTo, publicKey, secret }),
    body,
    boundTo: { type, deviceId, session, sendAnyway, later, inReplyTo },
    ...(byHost ? { host: deviceId } : {}),
  };
}

/** A request only waits on this phone for a limited time: the user would not expect it later. */
function lifeMs({ type, ttlSeconds = 0 }: OutgoingMessage): number {
  const isRequest = ["dialog.answer", ...HOST_REQUESTS].includes(type);
  const ttlMs = ttlSeconds * 1_000;
  return isRequest ? ASKED_MAX_MS + ttlMs : Math.max(SEALED_LIFE_MS, ttlMs);
}
