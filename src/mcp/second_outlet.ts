/** A question that nobody has seen on a phone for some time goes to a second outlet: an ntfy topic or a webhook of the host's owner. */
import { type Clock, delay } from "../async/clock.ts";
import { errorText } from "../async/error_text.ts";
import { retry } from "../async/retry.ts";
import type { RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import type { HostPush } from "../crypto/host_push.ts";
import type { SecondOutlet } from "../home/config.ts";
import type { Receipt } from "../protocol/receipt.ts";

const POST_LIMIT_MS = 10_000;
const TRIES_MAX = 3;
const BACKOFF = { minMs: 1_000, maxMs: 10_000 };

const NTFY_TEXT = "A question waits for you";

interface OutletParts {
  outlet: SecondOutlet;
  api: Pick<RelayApi, "getPush" | "baseUrl">;
  clock: Clock;
  /** Fires when the question is no longer asked. */
  signal: AbortSignal;
  /** Defaults to the network. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** The outcome; only a failure is of interest to anyone. Never throws. */
export type OutletOutcome = "sent" | "unnecessary" | { failure: string };

/** Resolves when the question was sent, was seen or closed before, or is no longer asked. */
export async function notifyUnseen(push: HostPush, parts: OutletParts): Promise<OutletOutcome> {
  const { outlet, api, clock, signal } = parts;
  try {
    await delay(outlet.afterSeconds * 1_000, { clock, signal });
    const { receipt } = await api.getPush(push.id, { signal }).catch((error) => {
      // A relay that does not answer cannot have shown it either.
      if (error instanceof RelayError) return { receipt: undefined };
      throw error;
    });
    if (receipt !== undefined && isSettled(receipt, outlet)) return "unnecessary";
    const [url, init] = requestOf(push, parts);
    let tries = 0;
    await retry(() => post(url, { init, parts }), {
      isTransient: () => ++tries < TRIES_MAX && !signal.aborted,
      backoff: BACKOFF,
      clock,
      signal,
    });
    return "sent";
  } catch (error) {
    return signal.aborted ? "unnecessary" : { failure: errorText(error) };
  }
}

/** Closed, or seen by someone: with `unless: "shown"`, a notification that a phone has shown is enough. */
function isSettled({ final, shown = {} }: Receipt, { unless }: SecondOutlet): boolean {
  return final ||
    Object.values(shown).some(({ seen, notified }) =>
      seen !== undefined || (unless === "shown" && notified !== undefined)
    );
}

/** No text in the clear: the link leads to the question, and only a webhook gets the sealed text, if it is wanted. */
function requestOf(push: HostPush, { outlet, api }: OutletParts): [url: string, init: RequestInit] {
  const link = `${api.baseUrl.replace(/\/+$/, "")}/#/inbox/${push.id}`;
  if (outlet.ntfy !== undefined) {
    const headers = { title: "svc", tags: "speech_balloon", click: link };
    return [outlet.ntfy, { method: "POST", headers, body: NTFY_TEXT }];
  }
  const sealed = outlet.sealed === true && push.sealedFor !== undefined
    ? { type: push.type, agentSessionName: push.agentSessionName, sealedFor: push.sealedFor }
    : {};
  const body = JSON.stringify({ event: "unseen_question", id: push.id, link, ...sealed });
  return [outlet.webhook ?? "", { method: "POST", headers: { "content-type": "application/json" }, body }];
}

async function post(
  url: string,
  { init, parts: { signal, fetch: send = fetch } }: { init: RequestInit; parts: OutletParts },
): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(POST_LIMIT_MS)]);
  const answer = await send(url, { ...init, signal: limit, redirect: "error" });
  await answer.body?.cancel();
  if (!answer.ok) {
    throw new Error(`Cannot use the second outlet: ${new URL(url).host} answered ${answer.status}`);
  }
}
