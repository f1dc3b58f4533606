/** Starts the page: binds state, views and the browser's own events together. */
import { render } from "preact";
import { generateKeyPair } from "../crypto/keys.ts";
import { VERSION } from "../protocol/version.ts";
import { Controller } from "./controller.ts";
import { deviceName } from "./device_name.ts";
import { formatRoute, type Handover, parseHandover, parseRoute } from "./route.ts";
import { openPairingStorage } from "./pairing_storage.ts";
import { outboxOf } from "./selectors.ts";
import { openStorage } from "./storage.ts";
import { createStore } from "./store.ts";
import { STRINGS } from "./strings.ts";
import { App, type AppActions } from "./views/app.tsx";
import { followVisibleHeight } from "./viewport.ts";

await start();

async function start(): Promise<void> {
  const handover = takeHandover();
  const root = document.getElementById("app");
  if (root === null) throw new Error(`Cannot draw the page: "#app" is not in it`);
  const store = createStore((state) => render(<App state={state} actions={actions} />, root));
  const controller = new Controller({
    baseUrl: new URL(".", location.href).href,
    name: deviceName(navigator.userAgent),
    version: VERSION,
    store,
    storage: await openStorage(indexedDB, isSecureContext ? crypto.subtle : undefined),
    // Browsers give keys on https and localhost only.
    pairing: isSecureContext ? await openPairingStorage(indexedDB, generateKeyPair) : undefined,
  });
  const actions: AppActions = {
    signIn: (key) => void controller.signIn(key),
    signOut: () => {
      const unsent = outboxOf(store.get()).length;
      if (unsent === 0 || confirm(STRINGS.picker.signOutAsk(unsent))) void controller.signOut();
    },
    send: (to, body) => void controller.send(to, body),
    resend: (message) => void controller.resend(message),
    discard: (id) => void controller.discard(id),
    draft: (to, text) => controller.draft(to, text),
    answer: (question, answer) => void controller.answer(question, answer),
    draftAnswer: (question, text) => controller.draftAnswer(question, text),
    swapAccount: () => void controller.swapAccount(),
    keepAccount: () => controller.keepAccount(),
    pairingRead: () => void controller.pairingRead(),
    wordsDiffer: () => void controller.wordsDiffer(),
    mirror: (name, viewer) => controller.mirror(name, viewer),
    readOlder: () => controller.readOlder(),
    reconnectNow: () => controller.reconnectNow(),
  };
  const followRoute = (): void => store.dispatch({ type: "route", route: parseRoute(location.hash) });
  followRoute();
  addEventListener("hashchange", () => {
    const given = takeHandover();
    followRoute();
    if (given !== undefined) void controller.start(given);
  });
  followLink(controller);
  followVisibleHeight(window);
  await controller.start(handover);
}

/** A key or a code is out of the address, and of the history, before anything else happens. */
function takeHandover(): Handover | undefined {
  const handover = parseHandover(location.hash);
  if (handover !== undefined) history.replaceState(null, "", formatRoute({ view: "picker" }));
  return handover;
}

/** The network's and the screen's changes are reasons to look after the link at once. */
function followLink(controller: Controller): void {
  const look = (): void => controller.watch(document.visibilityState === "visible");
  look();
  document.addEventListener("visibilitychange", look);
  addEventListener("online", () => controller.reconnectNow());
  addEventListener("offline", () => controller.reconnectNow());
}
