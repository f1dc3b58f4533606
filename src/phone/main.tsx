/** Starts the page: connects state, views and browser events. */
import { render } from "preact";
import { VERSION } from "../protocol/version.ts";
import { attentionCount } from "./attention.ts";
import { deviceName, followVisibleHeight, registerWorker, showCount } from "./browser.ts";
import { Controller } from "./controller.ts";
import type { FirstRead } from "./database.ts";
import { labelDocument } from "./language.ts";
import type { PairingStorage } from "./pairing_storage.ts";
import { applyPreferences, forgetTerminals, readPreferences } from "./preferences.ts";
import type { PushPage, PushPageOptions } from "./push_page.ts";
import { dialogRequest, endRequest, muteRequest, startRequest, unmuteRequest } from "./requests.ts";
import { formatRoute, parseRoute, parseSignInLink, type SignInLink } from "./route.ts";
import { sessionKey } from "./sessions.ts";
import { createStore, outboxOf, type PhoneState, type Store } from "./state.ts";
import { openStorage, type PhoneStorage } from "./storage.ts";
import { STRINGS } from "./strings.ts";
import { App, type AppActions } from "./views/app.tsx";
import type { MuteActions } from "./views/mute.tsx";
import type { SettingsActions } from "./views/settings.tsx";

interface Stored {
  cipher: SubtleCrypto | undefined;
  stored: Promise<[FirstRead, PairingStorage | undefined]>;
}

export async function start({ cipher, stored }: Stored): Promise<void> {
  applyPreferences(readPreferences(), document);
  labelDocument(document);
  const draw = oncePerTask(() => {
    const state = store.get();
    render(<App state={state} actions={actions} ringing={push.loaded?.ringing} />, root);
    controller.keepDrafts();
    countAttention(state);
    if (push.loaded !== undefined) push.loaded.changed();
    // The module is not loaded yet, or failed to load; the notifications view needs it.
    else if (state.route.view === "notifications") push.load().then(draw, () => undefined);
  });
  const store = createStore(draw);
  const baseUrl = new URL(".", location.href).href;
  const [[first, pairing], name] = await Promise.all([stored, deviceName(navigator)]);
  const storage = openStorage(cipher, first);
  const push = latePush({
    baseUrl,
    storage,
    pairing,
    store,
    history: () => controller.history(),
    takeOver: (ids) => controller.takeOver(ids),
    open: (hash) => location.hash = hash,
  });
  const controller = new Controller({
    baseUrl,
    name,
    version: VERSION,
    store,
    storage,
    pairing,
    changed: followOtherPages(),
  });
  const actions = actionsOf(controller, { store, storage, leave: () => leaveAccount(push) });
  const root = pageRoot();
  const followRoute = (): void => controller.open(parseRoute(location.hash));
  followRoute();
  addEventListener("hashchange", () => {
    const link = takeSignInLink();
    followRoute();
    if (link !== undefined) void controller.start(link);
  });
  followLink(controller, store);
  followVisibleHeight(window);
  await controller.start(takeSignInLink());
  await loadLater();
  await registerWorker();
  const { ringing } = await push.load();
  draw();
  await ringing.load();
}

/**
 * Reloads the page when another page has changed the account or its hosts, which are only read at the start. Returns a
 * function that notifies the other pages.
 */
function followOtherPages(): () => void {
  const channel = new BroadcastChannel("svc-account");
  channel.addEventListener("message", () => {
    // Reload without asking, even if a file is being sent.
    onbeforeunload = null;
    location.reload();
  });
  return () => channel.postMessage("changed");
}

/** Returns the root, cleared of the placeholder text in the page's HTML. */
function pageRoot(): HTMLElement {
  const root = document.getElementById("app") ?? document.body;
  root.replaceChildren();
  return root;
}

async function leaveAccount(push: ReturnType<typeof latePush>): Promise<void> {
  forgetTerminals();
  await (await push.load()).ringing.leave();
}

/** Until the history is read, a count of 0 does not clear the badge on the app's icon. */
function countAttention(state: PhoneState): void {
  const { signIn, history } = state;
  const count = signIn.kind === "in" ? attentionCount(state) : 0;
  if (count > 0 || signIn.kind === "out" || history !== "unread") showCount(count);
}

/** Loads the notifications code on first use: after the list, or when the account is left. */
function latePush(options: PushPageOptions): { loaded?: PushPage; load(): Promise<PushPage> } {
  return {
    async load() {
      const { pushPage } = await import("./push_page.ts");
      return this.loaded ??= pushPage(options);
    },
  };
}

/** Several changes in a row are drawn once. */
function oncePerTask(draw: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      draw();
    });
  };
}

/**
 * Preloads the session view, so that a tap on the list does not wait for it. A failure shows when the view is needed.
 */
async function loadLater(): Promise<void> {
  // boot.ts then preloads their files all at once.
  dispatchEvent(new Event("svc-list-shown"));
  await Promise.allSettled([import("./views/session.tsx"), import("./terminal_screen.ts")]);
  await import("./views/shortcut_help.tsx").then(({ startShortcuts }) => startShortcuts(), () => undefined);
}

/** `leave` ends the notifications of the account, and forgets the names of its sessions. */
function actionsOf(
  controller: Controller,
  { store, storage, leave }: { store: Store; storage: PhoneStorage; leave: () => Promise<void> },
): AppActions {
  return {
    signIn: (key) => void controller.signIn(key),
    signOut: (isOver) => {
      const unsent = outboxOf(store.get()).length;
      if ((unsent || !isOver) && !confirm(STRINGS.picker.signOutAsk(unsent))) return;
      void controller.leave(leave);
    },
    send: (to, body, options) => void controller.send(to, body, options),
    cancel: (message) => void controller.cancel(message),
    read: (key) => controller.read(key),
    startAgent: (deviceId, start) => controller.ask(startRequest(deviceId, start)),
    endAgent: (session) => controller.ask(endRequest(session)),
    mute: (session, muted) => controller.ask(muteRequest(session, { muted })),
    unmute: (deviceId, directory) => controller.ask(unmuteRequest(deviceId, directory)),
    answerDialog: (dialog, action) => void controller.ask(dialogRequest(dialog, action)),
    edit: (message) => void controller.edit(message),
    resend: (message) => void controller.resend(message),
    discard: (id) => void controller.discard(id),
    draft: (to, text) => controller.draft(to, text),
    draftOf: (to) => store.get().drafts[sessionKey(to)] ?? "",
    readSnippets: () => storage.readSnippets(),
    writeSnippets: (snippets) => storage.writeSnippets(snippets),
    answer: (question, answer) => void controller.answer(question, answer),
    draftAnswer: (question, text) => controller.draftAnswer(question, text),
    swapAccount: () => void controller.swapAccount(leave),
    keepAccount: () => controller.keepAccount(),
    confirmPairing: () => void controller.confirmPairing(),
    wordsDiffer: () => void leave().finally(() => controller.wordsDiffer()),
    mirror: controller.mirror,
    readOlder: () => controller.readOlder(),
    reconnectNow: () => controller.reconnectNow(),
    openLink: (link) => {
      location.hash = formatRoute({ view: "picker" });
      void controller.start(link);
    },
    tryLinkAgain: () => void controller.start(),
    ...settingsActions(controller),
  };
}

function settingsActions(controller: Controller): Omit<SettingsActions, "signOut" | keyof MuteActions> {
  return {
    pairedHosts: () => controller.pairedHosts(),
    renameHost: (deviceId, name) => controller.renameHost(deviceId, name),
    forgetHost: (deviceId) => controller.forgetHost(deviceId),
    account: () => controller.account(),
    devices: async () => (await (await controller.api()).devices()).devices,
    hooks: async () => (await (await controller.api()).hooks()).hooks,
    revokeDevice: async (id) => await (await controller.api()).revokeDevice(id),
    history: () => controller.history(),
  };
}

/** Returns the sign-in link in the address, and removes its key or code from the address and the history. */
function takeSignInLink(): SignInLink | undefined {
  const link = parseSignInLink(location.hash);
  if (link !== undefined) history.replaceState(null, "", formatRoute({ view: "picker" }));
  return link;
}

/** Checks the link whenever the network or the page's visibility changes. */
function followLink(controller: Controller, store: Store): void {
  const update = (): void => controller.watch(document.visibilityState === "visible");
  update();
  document.addEventListener("visibilitychange", update);
  addEventListener(
    "online",
    () => waitsForNetwork(store.get()) ? void controller.start() : controller.reconnectNow(),
  );
  addEventListener("offline", () => controller.reconnectNow());
}

/** True if a sign-in link got no answer: it is tried again once the network is back. */
function waitsForNetwork({ signIn, pairing }: PhoneState): boolean {
  const problem = signIn.kind === "out" ? signIn.problem : pairing?.kind === "failed" ? pairing : undefined;
  return problem?.hasLink === true;
}
