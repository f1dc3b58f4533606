/** The browser's own side of Web Push: a subscription for the relay's key. */
import { decodeBase64url, encodeBase64url } from "../async/encodings.ts";
import type { WebPushSubscription } from "../protocol/web_push.ts";

/** The subscription for this key; one for another key, of an earlier relay, is replaced. Rejects with the browser's reason. */
export async function subscribe(
  manager: Pick<PushManager, "getSubscription" | "subscribe">,
  key: string,
): Promise<WebPushSubscription> {
  const known = await manager.getSubscription();
  if (known !== null && keyOf(known) === key) return formOf(known);
  await known?.unsubscribe();
  const applicationServerKey = decodeBase64url(key);
  if (applicationServerKey === undefined) {
    throw new TypeError("Cannot subscribe: the relay's key is not base64url");
  }
  return formOf(await manager.subscribe({ userVisibleOnly: true, applicationServerKey }));
}

function keyOf({ options }: PushSubscription): string | undefined {
  const key = options?.applicationServerKey;
  return key ? encodeBase64url(new Uint8Array(key)) : undefined;
}

function formOf(subscription: PushSubscription): WebPushSubscription {
  const { endpoint, keys = {} } = subscription.toJSON();
  return { endpoint: endpoint ?? "", keys: { p256dh: keys["p256dh"] ?? "", auth: keys["auth"] ?? "" } };
}
