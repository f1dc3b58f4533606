/** What a host shows a paired phone through the relay: that a word about its message is the host's own. */
import type { PushState } from "../protocol/receipt.ts";
import { encodeBase64url } from "../async/base64url.ts";
import { deriveBytes } from "./paired_secret.ts";

/** What became of a message, as the host says it and the receipt repeats it. */
export interface ProvenWord {
  /** The push's. */
  id: string;
  state: PushState;
  reason?: string | undefined;
  final: boolean;
}

/** 43 characters of base64url. */
export async function receiptProof(
  secret: CryptoKey,
  { id, state, reason = "", final }: ProvenWord,
): Promise<string> {
  const context = JSON.stringify([id, state, reason, final]);
  return encodeBase64url(await deriveBytes(secret, { use: "receipt", context }));
}
