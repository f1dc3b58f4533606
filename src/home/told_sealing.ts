/** Seals what this host tells its phones, and opens what they answer. */
import { openMessage } from "../crypto/stored_message.ts";
import { sealPush, type ToldPush } from "../crypto/told_push.ts";
import type { Answer } from "../protocol/ask.ts";
import type { Push } from "../protocol/push.ts";
import { decodeAnswer } from "../protocol/sealed_text.ts";
import type { SealedKeys } from "./sealed_keys.ts";

export interface ToldSealing {
  /**
   * As it is where no phone is paired; else sealed for those that are, and the relay sees `shown` for data. Throws where
   * the pairings cannot be read: nothing is sent plain for want of them.
   */
  seal(push: ToldPush, shown?: Record<string, unknown>): Promise<ToldPush>;
  /** Undefined when no paired phone sealed it for this question. */
  openAnswer(
    push: Push,
    asked: { question: string; session: string | undefined },
  ): Promise<Answer | undefined>;
}

export function toldSealing(keys: SealedKeys): ToldSealing {
  return {
    seal: async (push, shown) =>
      await sealPush(push, { host: keys.deviceId, phones: await keys.phones(), shown }),
    openAnswer: async (push, { question, session = "" }) => {
      const { sealed, id, type, from } = push;
      const [keyPair, secret] = await Promise.all([keys.identity(), keys.secretOf(from)]);
      if (sealed?.mode !== "psk" || keyPair === undefined || secret === undefined) return undefined;
      const targetDeviceId = keys.deviceId;
      const place = { id, type, from, targetDeviceId, agentSessionName: session, sendAnyway: false };
      const content = await openMessage(sealed, { place, keyPair, secret });
      const found = content && decodeAnswer(content.body);
      if (found?.question !== question) return undefined;
      // A relay that shows the listener the same answer must not have it typed as well.
      return await keys.claimAnswer(id, "asker") ? found.answer : undefined;
    },
  };
}
