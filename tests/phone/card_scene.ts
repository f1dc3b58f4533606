/** A host that pairs with the page by itself, asks with sealed cards and proves the outcome of the answers. */
import type { Locator, Page } from "playwright-core";
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { sealHostPush } from "../../src/crypto/host_push.ts";
import { exportPublicKey, generateKeyPair } from "../../src/crypto/keys.ts";
import { hostProof, importSecret, newSecret, receiptProof } from "../../src/crypto/paired_secret.ts";
import { openMessage } from "../../src/crypto/stored_message.ts";
import type { Answer, CardData } from "../../src/protocol/ask.ts";
import type { Push } from "../../src/protocol/push.ts";
import { decodeAnswer } from "../../src/protocol/sealed_text.ts";
import { until } from "../helpers/until.ts";
import { type Scene, tapWhole, withScene } from "./scene.ts";
import type { Acknowledgement } from "./scripted_listener.ts";

const HOST = "dev_listener_00000001";
export const SESSION = "svc-demo";
export const DIGEST = "ab".repeat(32);

type Untimed<Data> = Data extends unknown ? Omit<Data, "timeoutSeconds" | "replyTo" | "listener"> : never;
export type Card = Untimed<CardData>;

export interface CardScene extends Scene {
  page: Page;
  api: RelayApi;
  /** Asks the paired phone; resolves with the card's id. */
  ask(card: Card, options?: { body?: string; timeoutSeconds?: number }): Promise<string>;
  /** Resolves with the answer to a card as the host opens it. */
  answerTo(card: string): Promise<{ push: Push; answer: Answer | undefined }>;
  /** Acknowledges with the host's proof, as a listener does. */
  prove(push: Push, ack: Acknowledgement): Promise<void>;
}

/** Opens a page that is paired with the scripted host and shows the messages of its one session. */
export async function withCards(act: (scene: CardScene) => Promise<void>): Promise<void> {
  await withScene(async (scene) => {
    const { phone: { page }, wire, relay, listener, listenerKey, makeKey } = scene;
    await listener.report({ name: SESSION });
    const admin = createRelayApi({
      baseUrl: relay.url,
      apiKey: await makeKey("admin", "push:read", "push:send"),
    });
    const api = createRelayApi({ baseUrl: relay.url, apiKey: listenerKey });
    const word = newSecret();
    const secret = await importSecret(word);
    if (secret === undefined) throw new Error("Cannot use a new secret");
    const keyPair = await generateKeyPair();
    const offered = {
      deviceId: HOST,
      host: "workstation",
      publicKey: await exportPublicKey(keyPair.publicKey),
    };
    const { code } = await admin.createPairing({
      offer: { ...offered, proof: await hostProof(secret, offered) },
    });
    await page.goto(`${wire.url}/#pair=${code}&s=${word}`);
    await page.getByRole("button", { name: "They match" }).tap();
    const { phone } = await until("the phone's claim", async () => {
      const status = await admin.pairingStatus(code);
      return status.phone !== undefined && status;
    });
    const { deviceId = "", publicKey = "" } = phone ?? {};
    await page.goto(`${wire.url}/#/s/${HOST}/${SESSION}/messages`);
    await page.getByText("No messages yet").waitFor();
    await act({
      ...scene,
      page,
      api,
      ask: async (card, { body, timeoutSeconds = 300 } = {}) => {
        const id = crypto.randomUUID();
        const data = { ...card, timeoutSeconds, listener: HOST, replyTo: HOST };
        const text = body ??
          (card.kind === "questions" ? card.questions.map((one) => one.text).join("\n") : "");
        const push = { id, type: "ask", agentSessionName: SESSION, body: text, data };
        const shown = { kind: "sealed", timeoutSeconds, listener: HOST, replyTo: HOST };
        const phones = [{ deviceId, publicKey, secret }];
        await api.sendPush(await sealHostPush(push, { host: HOST, phones, shown }));
        return id;
      },
      answerTo: async (card) => {
        const push = await until(
          "the answer",
          () => listener.pushes.find((one) => one.type === "ask.answer" && one.inReplyTo === card),
        );
        const { id, type, from, sealed } = push;
        const boundTo = {
          id,
          type,
          from,
          targetDeviceId: HOST,
          agentSessionName: SESSION,
          sendAnyway: false,
        };
        const content = sealed && await openMessage(sealed, { boundTo, keyPair, secret });
        const decoded = content && decodeAnswer(content.body);
        return { push, answer: decoded?.question === card ? decoded.answer : undefined };
      },
      prove: async (push, ack) => {
        const final = ack.final ?? true;
        const proof = await receiptProof(secret, {
          id: push.id,
          state: ack.outcome,
          reason: ack.reason,
          final,
        });
        listener.acknowledge(push, { ...ack, final, proof });
      },
    });
  });
}

export const cardOf = (page: Page, id: string): Locator => page.locator(`.question[data-id="${id}"]`);

/** Taps a button once the card has stopped moving, and again if the card says that it had not, as a person does. */
export async function tapStill(card: Locator, name: string | RegExp): Promise<void> {
  const button = card.getByRole("button", { name });
  await until(`the card to take a tap on ${name}`, async () => {
    await button.scrollIntoViewIfNeeded();
    await card.locator('.card-buttons[data-settled="true"]').waitFor();
    await tapWhole(button);
    return !await card.getByText("The card had just moved").isVisible();
  });
}
