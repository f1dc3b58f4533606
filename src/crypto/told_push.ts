/** A push toward phones with its words sealed for the paired ones; and the same read back by one of them. */
import type { Push, PushRequestInput } from "../protocol/push.ts";
import { decodePushContent, encodePushContent } from "../protocol/sealed_text.ts";
import { openForPhone, type PhoneKeys, sealForPhones, type ToldPlace } from "./sealed_for_phones.ts";

/** What is sealed is bound to the id. */
export type ToldPush = PushRequestInput & { id: string };

/** As it is where no phone is paired; else title, body and data are sealed, and the relay sees `shown` for data. */
export async function sealPush(
  push: ToldPush,
  { host, phones, shown }: {
    /** The listener's device id. */
    host: string;
    phones: readonly PhoneKeys[];
    shown?: Record<string, unknown> | undefined;
  },
): Promise<ToldPush> {
  if (phones.length === 0) return push;
  const { title, body, data, ...rest } = push;
  const text = encodePushContent({ title, body, data });
  const sealedFor = await sealForPhones(text, { place: placeOf(push, host), phones });
  return { ...rest, ...(shown ? { data: shown } : {}), sealedFor };
}

/** The push with its words as they were sealed; undefined when they are not for this phone. */
export async function openPush(
  push: Push,
  keys: { phone: string; keyPair: CryptoKeyPair; secret: CryptoKey },
): Promise<Push | undefined> {
  const { sealedFor } = push;
  if (sealedFor === undefined) return undefined;
  const text = await openForPhone(sealedFor, { ...keys, place: placeOf(push, sealedFor.host) });
  const told = text === undefined ? undefined : decodePushContent(text);
  if (told === undefined) return undefined;
  const { title: _title, body: _body, data: _data, ...rest } = push;
  return { ...rest, ...told };
}

function placeOf({ id, type, agentSessionName = "" }: ToldPush | Push, host: string): ToldPlace {
  return { id, type, agentSessionName, host };
}
