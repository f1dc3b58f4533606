/** A listener over a real socket, with sessions and answers set by the test. */
import { RelayLink } from "../../src/client/relay_link.ts";
import type { EventData } from "../../src/protocol/frames.ts";
import type { Push } from "../../src/protocol/push.ts";
import type { HostDetails, SessionEntry } from "../../src/protocol/session.ts";
import type { PushState, Reason } from "../../src/protocol/receipt.ts";
import { until } from "../helpers/until.ts";

export interface ListenerOptions {
  wsUrl: string;
  apiKey: string;
  deviceId?: string;
  host?: string;
}

export interface Acknowledgement {
  outcome: PushState;
  reason?: Reason;
  retryAfterSeconds?: number;
  agentSessionName?: string;
  final?: boolean;
  /** The proof, as a paired host makes it. */
  proof?: string;
}

export class ScriptedListener {
  /** Every push received, in order, including repeated ones. */
  readonly pushes: Push[] = [];
  /** Reported with the sessions. */
  details: Omit<HostDetails, "at"> | undefined;
  readonly #link: RelayLink;
  #sequence = 0;
  #stored = 0;

  constructor({ wsUrl, apiKey, deviceId = "dev_listener_00000001", host = "workstation" }: ListenerOptions) {
    this.#link = new RelayLink({
      wsUrl,
      apiKey,
      hello: () => ({ role: "listener", deviceId, name: host, version: "0.1.0", capabilities: [] }),
      onFrame: (frame) => {
        if (frame.event === "push.new") this.pushes.push(frame.data);
        if (frame.event === "listener.stored") this.#stored++;
      },
      onState: () => {},
    });
    this.#link.start();
  }

  /** Resolves once the relay has stored the inventory. */
  async report(...sessions: Partial<SessionEntry>[]): Promise<void> {
    await until("the listener's link", () => this.#link.connected);
    const before = this.#stored;
    this.#link.send("listener.sessions", {
      sequence: ++this.#sequence,
      sessions: sessions.map(entryOf),
      ...(this.details ? { details: { plain: { at: Date.now(), ...this.details } } } : {}),
    });
    await until("the inventory to be stored", () => this.#stored > before);
  }

  /** Resolves with the next push of this type that is not in `before`. */
  receivedType(type: string, ...before: Push[]): Promise<Push> {
    const ids = before.map(({ id }) => id);
    const isNew = (push: Push): boolean => push.type === type && !ids.includes(push.id);
    return until(`a push of type "${type}"`, () => this.pushes.find(isNew));
  }

  /** Resolves with the push that has this text. */
  received(body: string): Promise<Push> {
    return until(`the push "${body}"`, () => this.pushes.find((push) => push.body === body));
  }

  acknowledge({ id }: Push, { final, ...said }: Acknowledgement): void {
    const data: EventData<"push.ack"> = {
      id,
      ...said,
      final: final ?? !["held", "typed"].includes(said.outcome),
    };
    this.#link.send("push.ack", data);
  }

  stop(): void {
    this.#link.close();
  }
}

/** Returns a complete entry with defaults for what the test does not set. */
export function entryOf(changed: Partial<SessionEntry>): SessionEntry {
  const name = changed.name ?? "svc-demo";
  const project = changed.project ?? name.replace(/^svc-/, "");
  const agentLabel = changed.agentLabel ?? "Claude";
  return {
    name,
    project,
    agent: "cc",
    agentLabel,
    ordinal: 1,
    label: `${project} · ${agentLabel}`,
    state: "idle",
    stateSince: Date.now(),
    attached: false,
    lastActivity: Date.now(),
    cwd: `/home/user/${project}`,
    title: "",
    cols: 80,
    rows: 24,
    muted: false,
    addressable: true,
    ...changed,
  };
}
