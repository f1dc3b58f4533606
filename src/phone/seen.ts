/** Reports which pushes are on the screen, so that they ring no phone that shows them, and takes away notifications that are done. */
import type { ShownReport } from "../protocol/web_push.ts";
import { hostOf } from "../protocol/web_push.ts";
import type { InboxItem } from "./inbox.ts";
import type { Route } from "./route.ts";
import type { PhoneState } from "./state.ts";
import type { NotificationData } from "./worker/notification.ts";

/** An older push has rung already, or never will. An open question is reported at any age. */
const FRESH_MS = 60_000;
/** Ids that are remembered as reported. */
const REPORTED_MAX = 1_000;

interface SeenOptions {
  report(push: string, how: ShownReport["how"]): Promise<void>;
  /** The notifications that the system shows for this page. */
  notifications(): Promise<readonly Pick<Notification, "data" | "close">[]>;
  /** Epoch milliseconds by this phone's clock. */
  now(): number;
}

export class Seen {
  readonly #options: SeenOptions;
  readonly #reported = new Set<string>();
  #last: { inbox: PhoneState["inbox"]; route: Route; visible: boolean } | undefined;

  constructor(options: SeenOptions) {
    this.#options = options;
  }

  /** For every change of the state, of which most change nothing here. */
  update({ inbox, route, clockOffsetMs, signIn }: PhoneState, visible: boolean): void {
    const last = this.#last;
    if (signIn.kind !== "in") return;
    if (last?.inbox === inbox && last.route === route && last.visible === visible) return;
    this.#last = { inbox, route, visible };
    const now = this.#options.now() + clockOffsetMs;
    const seen = visible ? [...inbox.values()].filter((item) => isInView(item, route)) : [];
    for (const item of seen) if (isFresh(item, now)) this.#report(item.push.id);
    const done = [...inbox.values()].filter((item) => item.kind === "question" && item.receipt.final);
    void this.#close(new Set([...seen, ...done].map(({ push }) => push.id)));
  }

  #report(id: string): void {
    if (this.#reported.has(id)) return;
    if (this.#reported.size >= REPORTED_MAX) this.#reported.clear();
    this.#reported.add(id);
    // Without the report the phone rings once more than necessary.
    this.#options.report(id, "page").catch(() => this.#reported.delete(id));
  }

  async #close(ids: ReadonlySet<string>): Promise<void> {
    if (ids.size === 0) return;
    for (const notification of await this.#options.notifications()) {
      const data = notification.data as Partial<NotificationData> | null;
      if (data?.id !== undefined && ids.has(data.id)) notification.close();
    }
  }
}

function isFresh({ kind, push, receipt }: InboxItem, now: number): boolean {
  return kind === "question" ? !receipt.final : now - push.createdAt < FRESH_MS;
}

/** The inbox shows everything, a session what is about it. */
function isInView({ push }: InboxItem, route: Route): boolean {
  if (route.view === "inbox") return true;
  if (route.view !== "session" || push.agentSessionName !== route.session) return false;
  const host = hostOf(push);
  return host === "" || host === route.deviceId;
}
