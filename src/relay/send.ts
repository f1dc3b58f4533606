/** `POST /pushes/send`: every push comes in here, and goes the way of its type. */
import { type PushAccepted, PushRequest } from "../protocol/push.ts";
import { acceptAnswer, acceptAsk } from "./asks.ts";
import { json, type KeyedCall, readBody } from "./call.ts";
import { acceptPush, type Sent } from "./pushes.ts";
import type { Services } from "./services.ts";

export async function sendPush(services: Services, call: KeyedCall): Promise<Response> {
  const request = await readBody(call, { schema: PushRequest, code: "invalid_push" });
  const { account, deviceId, id } = call.key;
  return json(await accept(services, { account, from: deviceId ?? id, request }), 202);
}

function accept(services: Services, sent: Sent): Promise<PushAccepted> {
  switch (sent.request.type) {
    case "ask":
      return acceptAsk(services, sent);
    case "ask.answer":
      return acceptAnswer(services, sent);
    default:
      return acceptPush(services, sent);
  }
}
