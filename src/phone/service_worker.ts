/** The page's service worker: each of its duties is a file in `worker/`; their access to storage and relay is here. */
import { createRelayApi } from "../client/api.ts";
import { createWebPushApi } from "../client/web_push_api.ts";
import { openHostPush } from "../crypto/host_push.ts";
import { generateKeyPair } from "../crypto/keys.ts";
import { languageFor } from "./languages.ts";
import { openPairingStorage, type PairingStorage } from "./pairing_storage.ts";
import { pushStorage, subscribe } from "./ringing.ts";
import { openStorage } from "./storage.ts";
import { NOTIFICATION_STRINGS_DE } from "./strings_manage_de.ts";
import { NOTIFICATION_STRINGS } from "./strings_notifications.ts";
import { type PushParts, showPushes } from "./worker/push.ts";
import type { WorkerScope } from "./worker/scope.ts";
import { keepShell, type Shell } from "./worker/shell.ts";

/** Written into the worker by `scripts/build_phone.ts`. */
declare const SHELL: Shell;
declare const self: WorkerScope;

keepShell(self, SHELL);
showPushes(self, pushParts(self));

/** Access to what the page has stored, and to the relay. A worker runs only in a secure context, which has WebCrypto. */
function pushParts(scope: WorkerScope): PushParts {
  const baseUrl = scope.registration.scope;
  const account = async (): Promise<{ apiKey: string; deviceId: string }> => {
    const { apiKey, deviceId } = await openStorage(crypto.subtle).readAccount() ?? {};
    if (apiKey === undefined || deviceId === undefined) throw new Error("Cannot call the relay: signed out");
    return { apiKey, deviceId };
  };
  let pairing: Promise<PairingStorage> | undefined;
  return {
    async open(push) {
      pairing ??= openPairingStorage(generateKeyPair);
      const hosts = await (await pairing).readHosts();
      const host = hosts.find(({ deviceId }) => deviceId === push.sealedFor?.host);
      if (host === undefined) return undefined;
      const { phone, secret } = host;
      const keyPair = await (await pairing).ownKeys();
      return await openHostPush(push, { phone, secret, keyPair });
    },
    async load(id, signal) {
      const { apiKey } = await account();
      return (await createRelayApi({ baseUrl, apiKey }).getPush(id, { signal })).push;
    },
    async report(push, how) {
      const { apiKey, deviceId } = await account();
      await createWebPushApi({ baseUrl, apiKey }).reportShown(push, { deviceId, how });
    },
    async resubscribe() {
      const { apiKey, deviceId } = await account();
      const preferences = await pushStorage().readPreferences();
      if (preferences === undefined) return;
      const api = createWebPushApi({ baseUrl, apiKey });
      const subscription = await subscribe(scope.registration.pushManager, await api.webPushKey());
      await api.saveWebPush(deviceId, { ...subscription, preferences });
    },
    async texts() {
      const language = languageFor(await pushStorage().readLanguage(), navigator.languages);
      return (language === "de" ? NOTIFICATION_STRINGS_DE : NOTIFICATION_STRINGS).notification;
    },
    now: () => Date.now(),
  };
}
