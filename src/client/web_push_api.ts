/** The relay's routes of Web Push as typed calls, for the phone's page and its service worker. */
import * as z from "zod/mini";
import {
  type ShownReport,
  WebPushKey,
  type WebPushSubscription,
  type WebPushTest,
  WebPushTested,
} from "../protocol/web_push.ts";
import { callRelay, relayAddress, type RelayApiOptions, segment } from "./api.ts";

/** Every method throws RelayError. */
export interface WebPushApi {
  /** The key to subscribe with. */
  webPushKey(): Promise<string>;
  saveWebPush(device: string, subscription: WebPushSubscription): Promise<void>;
  removeWebPush(device: string): Promise<void>;
  /** Resolves with the answer of the browser's push service. */
  testWebPush(device: string, test: WebPushTest): Promise<WebPushTested>;
  reportShown(push: string, report: ShownReport): Promise<void>;
}

export function createWebPushApi(options: RelayApiOptions): WebPushApi {
  const relay = relayAddress(options);
  const path = (device: string): string => `/devices/${segment(device)}/web-push`;
  return {
    webPushKey: async () => {
      const what = "read the key for notifications";
      const call = { method: "GET", path: "/web-push/key", what, schema: WebPushKey } as const;
      return (await callRelay(relay, call)).publicKey;
    },
    saveWebPush: async (device, body) => {
      const what = "switch notifications on";
      await callRelay(relay, { method: "PUT", path: path(device), what, body, schema: z.unknown() });
    },
    removeWebPush: async (device) => {
      const what = "switch notifications off";
      await callRelay(relay, { method: "DELETE", path: path(device), what, schema: z.unknown() });
    },
    testWebPush: async (device, body) => {
      const call = { method: "POST", path: `${path(device)}/test`, what: "send a test", body } as const;
      return await callRelay(relay, { ...call, schema: WebPushTested });
    },
    reportShown: async (push, body) => {
      const what = "report what was shown";
      const call = { method: "PUT", path: `/pushes/${segment(push)}/shown`, what, body } as const;
      await callRelay(relay, { ...call, schema: z.unknown() });
    },
  };
}
