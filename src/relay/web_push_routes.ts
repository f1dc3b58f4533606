/** The HTTP routes of Web Push: the relay's key, a phone's subscription and its test, and what a phone was shown. */
import type { Shown } from "../protocol/receipt.ts";
import {
  ShownReport,
  type WebPushKey,
  WebPushSubscription,
  WebPushTest,
  type WebPushTested,
} from "../protocol/web_push.ts";
import { ownDevice } from "./devices.ts";
import { json, type KeyedCall, noContent, readBody, Refusal } from "./handler.ts";
import type { Services } from "./services.ts";

/** `GET /web-push/key`. */
export async function webPushKey({ webPush }: Services): Promise<Response> {
  const answer: WebPushKey = { publicKey: await webPush.publicKey() };
  return json(answer);
}

/** `PUT /devices/{id}/web-push`. */
export async function saveWebPush({ store, webPush }: Services, call: KeyedCall): Promise<Response> {
  const device = await ownDevice({ store }, { key: call.key, id: call.param("id") });
  const subscription = await readBody(call, { schema: WebPushSubscription, code: "invalid_request" });
  const fault = webPush.fault(subscription);
  if (fault !== undefined) {
    throw new Refusal("invalid_request", "Cannot use the subscription: a field is not valid", {
      errors: [fault],
    });
  }
  await store.saveWebPush(device, subscription);
  return noContent();
}

/** `DELETE /devices/{id}/web-push`. */
export async function removeWebPush({ store }: Services, call: KeyedCall): Promise<Response> {
  await store.removeWebPush(await ownDevice({ store }, { key: call.key, id: call.param("id") }));
  return noContent();
}

/** `POST /devices/{id}/web-push/test`: answers once the browser's vendor has answered. */
export async function testWebPush(services: Services, call: KeyedCall): Promise<Response> {
  const device = await ownDevice(services, { key: call.key, id: call.param("id") });
  const request = await readBody(call, { schema: WebPushTest, code: "invalid_request" });
  const answer: WebPushTested | undefined = await services.webPush.test(device, request);
  if (answer === undefined) {
    throw new Refusal("not_found", "Cannot test Web Push: this phone has no subscription, or it was removed");
  }
  return json(answer);
}

/** `PUT /pushes/{id}/shown`. */
export async function reportShown(services: Services, call: KeyedCall): Promise<Response> {
  const { account } = call.key;
  const { deviceId, how } = await readBody(call, { schema: ShownReport, code: "invalid_request" });
  await ownDevice(services, { key: call.key, id: deviceId });
  const push = { account, id: call.param("id") };
  const stored = await services.store.findPush(push);
  if (stored === undefined || stored.target !== undefined) {
    throw new Refusal("unknown_push", "Cannot find a push to phones with this id in this account");
  }
  const now = services.clock.now();
  const shown: Shown = how === "notification" ? { notified: now } : { seen: now };
  await services.webPush.note(push, { phone: deviceId, shown });
  return noContent();
}
