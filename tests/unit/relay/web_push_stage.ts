/** A relay whose push vendor records what it receives, and functions to subscribe, ring and answer for phones. */
import assert from "node:assert/strict";
import { PairingClaimed, PairingCreated } from "../../../src/protocol/http.ts";
import type { PushRecord } from "../../../src/protocol/push.ts";
import type { RingPreferences, WebPushPayload } from "../../../src/protocol/web_push.ts";
import type { PublicPost } from "../../../src/runtime/public_post.ts";
import { makeSubscriber, openMessage, type Subscriber } from "../../helpers/push_vendor.ts";
import { Fixture, uuid } from "./fixture.ts";

export const HOST = "dev_listener_0a1b2c3d";
export const SESSION = "svc-p";

export interface RungPhone {
  id: string;
  key: string;
  subscriber: Subscriber;
}

/** A relay whose vendor records what it receives, a host's key, and functions to subscribe phones. */
export class Stage implements AsyncDisposable {
  readonly posts: PublicPost[] = [];
  /** The vendor's next answers; after these, 201. */
  readonly answers: { status: number; retryAfterSeconds?: number }[] = [];
  private constructor(readonly relay: Fixture, readonly host: string) {
    relay.vendor = (post) => {
      this.posts.push(post);
      return Promise.resolve(this.answers.shift() ?? { status: 201 });
    };
  }

  static async make(): Promise<Stage> {
    const relay = await Fixture.make();
    const host = await relay.key(["push:read", "push:send"], { role: "listener", deviceId: HOST });
    await relay.connect(host, { role: "listener", deviceId: HOST });
    return new Stage(relay, host);
  }

  /** Makes a paired phone with a subscription, whose page is closed. */
  async phone(preferences?: RingPreferences): Promise<RungPhone> {
    const { relay, host } = this;
    const { code } = PairingCreated.parse(
      await (await relay.request("POST", "/pairings", { key: host })).json(),
    );
    const claimed = await relay.request("POST", `/pairings/${code}/claim`, { body: { name: "iPhone" } });
    const { deviceId: id, apiKey: key } = PairingClaimed.parse(await claimed.json());
    const subscriber = await makeSubscriber(`https://push.example/${id}`);
    const body = { ...subscriber.subscription, ...(preferences ? { preferences } : {}) };
    assert.equal((await relay.request("PUT", `/devices/${id}/web-push`, { key, body })).status, 204);
    return { id, key, subscriber };
  }

  async push(fields: Record<string, unknown>): Promise<void> {
    const answer = await this.relay.request("POST", "/pushes/send", { key: this.host, body: fields });
    assert.equal(answer.status, 202, await answer.text());
  }

  async ask(n: number, fields: Record<string, unknown> = {}): Promise<void> {
    const data = { kind: "ask", options: ["yes", "no"], timeoutSeconds: 300, replyTo: HOST };
    await this.push({
      id: uuid(n),
      type: "ask",
      body: "Deploy?",
      agentSessionName: SESSION,
      data,
      ...fields,
    });
  }

  async answer(n: number, by: RungPhone): Promise<void> {
    const body = { type: "ask.answer", inReplyTo: uuid(n), data: { choices: ["yes"] } };
    const answer = await this.relay.request("POST", "/pushes/send", { key: by.key, body });
    assert.equal(answer.status, 202, await answer.text());
    await this.relay.settle();
  }

  async seen(n: number, { id, key }: RungPhone, how = "page"): Promise<number> {
    const body = { deviceId: id, how };
    return (await this.relay.request("PUT", `/pushes/${uuid(n)}/shown`, { key, body })).status;
  }

  async record(n: number): Promise<PushRecord> {
    return await (await this.relay.request("GET", `/pushes/${uuid(n)}`, { key: this.host })).json();
  }

  async sentTo({ subscriber }: RungPhone): Promise<WebPushPayload[]> {
    await this.relay.settle();
    const own = this.posts.filter(({ url }) => url === subscriber.subscription.endpoint);
    return await Promise.all(own.map(({ body }) => openMessage(body, subscriber)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay[Symbol.asyncDispose]();
  }
}
