/** Grants or refuses a phone's wish for a stream, as sealed as it asks and as this host demands. */
import { isEnough, type Sealing } from "../crypto/mode.ts";
import { acceptStream, plainChannel, type StreamChannel, type StreamHello } from "../crypto/stream.ts";
import type { SealedKeys } from "../home/sealed_keys.ts";
import type { EventData } from "../protocol/frames.ts";

/** `hello` goes into `pane.opened`; `refused` is the reason of a `pane.closed`. */
export type GrantedStream =
  | { channel: StreamChannel; hello: StreamHello | undefined }
  | { refused: "sealed_required" | "unsealable" };

export async function grantStream(
  open: EventData<"pane.open">,
  { keys, floor }: {
    keys: Pick<SealedKeys, "deviceId" | "secretOf">;
    /** The weakest sealing that the host takes now. */
    floor: Sealing;
  },
): Promise<GrantedStream> {
  const { publicKey, from = "", agentSessionName } = open;
  const mode = publicKey === undefined ? "off" : open.mode ?? "base";
  if (!isEnough(mode, floor)) return { refused: "sealed_required" };
  if (publicKey === undefined || mode === "off") return { channel: plainChannel(), hello: undefined };
  const secret = mode === "psk" ? await keys.secretOf(from) : undefined;
  const parties = { phone: from, listener: keys.deviceId, agentSessionName };
  return await acceptStream(parties, { hello: { publicKey, mode }, secret }) ?? { refused: "unsealable" };
}
