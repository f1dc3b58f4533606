/** The relay, phone and listener that tests of the page run against, and steps that many of them share. */
import type { Locator, Page } from "playwright-core";
import { buildPhone } from "../../scripts/build_phone.ts";
import { systemClock } from "../../src/async/clock.ts";
import type { RelayApi } from "../../src/client/api.ts";
import { retryRelay } from "../../src/client/relay_error.ts";
import type { Scope } from "../../src/protocol/http.ts";
import type { PushRequestInput } from "../../src/protocol/push.ts";
import type { SessionEntry } from "../../src/protocol/session.ts";
import { type RunningRelay, startRelay } from "../../src/relay/server.ts";
import { type NatsServer, startNatsCluster } from "../helpers/nats_server.ts";
import { newKey } from "../helpers/new_key.ts";
import { FROM_CHECKOUT, type Started, startSvc, SVC } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { ON_NATS, RELAY_READY } from "../helpers/stack.ts";
import { SAFETY_LIMIT_MS } from "../helpers/until.ts";
import { Phone } from "./phone.ts";
import { ScriptedListener } from "./scripted_listener.ts";
import { Wire } from "./wire.ts";

export const PAGE_DIRECTORY = `${CHECKOUT}dist/phone`;

export interface Scene {
  relay: RunningRelay;
  wire: Wire;
  phone: Phone;
  listener: ScriptedListener;
  /** The listener's own key. */
  listenerKey: string;
  /** Another key of the same account. */
  makeKey(...scopes: Scope[]): Promise<string>;
  /** Restarts the relay with the same data and port. */
  restartRelay(): Promise<void>;
}

/**
 * A relay with the page, a network link that can break, a phone, and a scripted listener. With NATS the listener is
 * connected to another of three nodes.
 */
export async function withScene(act: (scene: Scene) => Promise<void>): Promise<void> {
  await buildPhone({ outDir: PAGE_DIRECTORY });
  const dataDir = await Deno.makeTempDir({ prefix: "svc-phone-relay-" });
  const makeKey = (...scopes: Scope[]): Promise<string> => newKey(dataDir, scopes);
  await using sandbox = await makeSandbox();
  const ends: (() => unknown)[] = [() => Deno.remove(dataDir, { recursive: true })];
  try {
    const nats = ON_NATS ? await startNatsCluster(`${dataDir}/nats`) : [];
    ends.push(...nats.map((server) => () => server.stop("SIGKILL")));
    const start = (port: number): Promise<RunningRelay> => {
      const listen = `127.0.0.1:${port}`;
      if (SVC !== FROM_CHECKOUT || ON_NATS) return relayProcess(sandbox, { listen, dataDir, nats });
      return startRelay({ listen, dataDir, phoneDirectory: PAGE_DIRECTORY });
    };
    let relay = await start(0);
    ends.push(() => relay.stop());
    const nodes = ON_NATS ? [await start(0), await start(0)] : [];
    ends.push(...nodes.map((node) => () => node.stop()));
    const wire = new Wire(relay.port);
    ends.push(() => wire.close());
    const listenerKey = await makeKey("push:read", "push:send");
    const listener = new ScriptedListener({ wsUrl: (nodes[0] ?? relay).wsUrl, apiKey: listenerKey });
    ends.push(() => listener.stop());
    const phone = await Phone.start(wire.url);
    ends.push(() => phone.close());
    const restartRelay = async (): Promise<void> => {
      await relay.stop();
      relay = await start(relay.port);
    };
    await act({ relay, wire, phone, listener, listenerKey, makeKey, restartRelay });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Starts the relay of the svc that `SVC_TEST_LAUNCH` names, with its own page; or one of several nodes. */
async function relayProcess(
  sandbox: Sandbox,
  { listen, dataDir, nats }: { listen: string; dataDir: string; nats: readonly NatsServer[] },
): Promise<RunningRelay> {
  const onNats = nats.length === 0 ? [] : ["--nats", nats.map(({ url }) => url).join(",")];
  const relay = startSvc(sandbox, ["server", "--listen", listen, "--data", dataDir, ...onNats]);
  const [, url = "", , wsUrl = ""] = await relay.line(RELAY_READY);
  return {
    url,
    wsUrl,
    port: Number(new URL(url).port),
    setPublicUrl() {
      throw new Error("A relay in a process of its own has the address that it was started with.");
    },
    async stop() {
      relay.kill("SIGTERM");
      await relay.exited;
    },
  };
}

/** Signs in and opens the messages of the one session. */
export async function openMessages(
  { phone: { page }, wire, listener, makeKey }: Scene,
  session: Partial<SessionEntry> = {},
): Promise<Page> {
  await listener.report({ name: "svc-demo", ...session });
  await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
  await page.getByRole("link", { name: /demo · Claude/ }).tap();
  await page.getByRole("link", { name: "Messages" }).tap();
  await page.getByText("No messages yet").waitFor();
  return page;
}

/** Signs out and waits: a link opened before that would be treated as one of the same account. */
export async function signOut(page: Page): Promise<void> {
  page.once("dialog", (dialog) => void dialog.accept());
  await page.getByRole("button", { name: "Sign out" }).tap();
  await page.getByLabel("API key").waitFor();
}

/** Signs in and opens the menu of the one session. */
export async function openMenu(
  { phone: { page }, wire, listener, makeKey }: Scene,
  session: Partial<SessionEntry>,
): Promise<Locator> {
  await listener.report(session);
  await page.goto(`${wire.url}/#key=${await makeKey("push:read", "push:send")}`);
  await page.getByRole("main").getByRole("link").click();
  await page.getByRole("button", { name: "About this session" }).click();
  return page.getByRole("dialog");
}

/** Sends with retries, for bulk: a relay on a busy machine asks such senders to try again later. */
export async function sendPatiently(api: RelayApi, push: PushRequestInput): Promise<void> {
  const id = crypto.randomUUID();
  await retryRelay(() => api.sendPush({ id, ...push }), { limitMs: SAFETY_LIMIT_MS, clock: systemClock });
}

export const messageField = (page: Page) => page.getByRole("textbox", { name: /Message to/ });
export const bubble = (page: Page, text: string) => page.getByRole("listitem").filter({ hasText: text });

/** Taps and waits until the page has handled the tap, which is reported earlier. */
export async function tapWhole(button: Locator): Promise<void> {
  const clicked = button.evaluate((element) =>
    new Promise<void>((done) => element.addEventListener("click", () => setTimeout(done), { once: true }))
  );
  await button.tap();
  await clicked;
}

/**
 * Goes from a session's terminal to its messages. The message field there is a different one, so text in the first is
 * lost.
 */
export async function showMessages(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Messages" }).tap();
  await page.getByRole("link", { name: "Terminal" }).waitFor();
}

export async function sendMessage(page: Page, text: string): Promise<void> {
  await messageField(page).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).tap();
}

/** Returns what the page stores in this store and a reload would find, by key; for bytes only their number. */
export async function kept<T>(page: Page, store: string, database = "svc"): Promise<Map<string, T>> {
  const entries = await page.evaluate(async ([database, store]) => {
    const settled = <R>(request: IDBRequest<R>): Promise<R> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const opened = await settled(indexedDB.open(database));
    const place = opened.transaction(store).objectStore(store);
    const [keys, values] = await Promise.all([settled(place.getAllKeys()), settled(place.getAll())]);
    opened.close();
    const readable = (_key: string, value: unknown): unknown =>
      value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? { byteLength: value.byteLength } : value;
    return JSON.stringify(keys.map((key, place) => [String(key), values[place]]), readable);
  }, [database, store] as const);
  return new Map(JSON.parse(entries));
}

export interface Demo {
  sandbox: Sandbox;
  up: Started;
  phone: Phone;
  page: Page;
  /** The pairing link from `svc up`. */
  link: string;
  origin: string;
}

/** Runs `act` with `svc up --demo` as a process, and a phone that has not opened its link yet. */
export async function withDemo(act: (demo: Demo) => Promise<void>): Promise<void> {
  await buildPhone({ outDir: PAGE_DIRECTORY });
  await using sandbox = await makeSandbox();
  const up = startSvc(sandbox, ["up", "--demo", "--listen", "127.0.0.1:0"]);
  try {
    const [, link = "", origin = ""] = await up.line(/^Open this link: ((http:\/\/localhost:\d+)\/#\S+)$/);
    const phone = await Phone.start(origin);
    try {
      await act({ sandbox, up, phone, page: phone.page, link, origin });
    } finally {
      await phone.close();
    }
  } finally {
    up.kill("SIGINT");
    await up.exited;
  }
}
