/** The relay's HTTP side under the path /svc: records requests and gives scripted answers. */
import { problem, type WireErrorCode } from "../../../src/protocol/errors.ts";
import type { PushRecord } from "../../../src/protocol/push.ts";
import type { DeviceSessions } from "../../../src/protocol/session.ts";
import { deviceOf, NOW, receiptOf, recordOf } from "./samples.ts";

export class FakeRelay {
  devices: DeviceSessions[] = [deviceOf()];
  /** The stored pushes, oldest first. */
  records: PushRecord[] = [];
  /** Records on a page of the history. */
  pageSize = 200;
  /** If set, every request is refused with this code. */
  refusal: WireErrorCode | undefined;
  /** If true, requests fail as if no relay were there. */
  away = false;
  /** If set, answers arrive only when this resolves. */
  answering: Promise<void> | undefined;
  /** Method and path of every request, without the query. */
  readonly asked: string[] = [];

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { pathname, searchParams } = new URL(url);
    const path = pathname.replace(/^\/svc/, "");
    this.asked.push(`${init.method} ${path}`);
    if (this.away) throw new TypeError("connection refused");
    if (this.refusal !== undefined) return await this.#refused(this.refusal);
    const answer = Response.json(path === "/pushes" ? this.#page(searchParams) : this.#answer(path, init));
    await this.answering;
    return answer;
  };

  async #refused(code: WireErrorCode): Promise<Response> {
    const body = problem(code);
    await this.answering;
    return Response.json(body, { status: body.status });
  }

  #answer(path: string, init: RequestInit): unknown {
    if (path === "/healthz") return { status: "ok", version: "0" };
    if (path === "/sessions") return { devices: this.devices };
    if (path === "/pushes/send") return this.#take(JSON.parse(String(init.body)));
    if (path.endsWith("/claim")) return { deviceId: "dev_phone_9", apiKey: "svc_claimed" };
    return this.records.find(({ push }) => path === `/pushes/${push.id}`);
  }

  /** Returns the newest records before the cursor; this relay has no open question. */
  #page(query: URLSearchParams): { pushes: PushRecord[]; next?: string } {
    if (query.has("open")) return { pushes: [] };
    const before = this.records.findIndex(({ push }) => push.id === query.get("before"));
    const older = before < 0 ? this.records : this.records.slice(0, before);
    const pushes = older.slice(-this.pageSize);
    const [first] = pushes;
    return {
      pushes,
      ...(first !== undefined && pushes.length < older.length ? { next: first.push.id } : {}),
    };
  }

  #take(sent: { id: string; body: string }): unknown {
    const known = this.records.find(({ push }) => push.id === sent.id);
    const { push: { body: _body, ...push }, receipt } = recordOf(1, receiptOf("queued"));
    if (known === undefined) this.records.push({ push: { ...push, ...sent }, receipt });
    return { id: sent.id, state: "queued", expiresAt: NOW + 9 };
  }
}
