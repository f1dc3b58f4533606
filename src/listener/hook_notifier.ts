/** Notifies the phones, in order: of an agent's last message, of the dialog that it shows, or that it waits. */
import { relayErrorText } from "../client/certificate_fault.ts";
import { retryRelay } from "../client/relay_error.ts";
import { type Clock, delay } from "../async/clock.ts";
import { setNewest } from "../async/newest.ts";
import type { HostPush } from "../crypto/host_push.ts";
import type { HookNews, HookReport } from "../home/control_socket.ts";
import { TITLE_MAX_CHARS } from "../protocol/limits.ts";
import { isSessionName, sessionTitle } from "../protocol/names.ts";
import type { PushRequestInput } from "../protocol/push.ts";
import type { DialogNews, NamedSession } from "./inventory/session_entry.ts";
import type { RunningListener } from "./listener.ts";

/** Notifications that may wait; beyond this, the oldest are dropped. */
export const NOTIFICATIONS_MAX = 100;
/** Notifications older than this are dropped, in milliseconds. */
export const NOTIFICATION_LIFE_MS = 600_000;
/** Panes whose last dialog is kept. */
const DIALOGS_MAX = 500;
/** An agent writes its last message into its transcript within this time, in milliseconds. */
export const TRANSCRIPT_LIMIT_MS = 3_000;
const TRANSCRIPT_POLL_MS = 100;
/** A longer path would not fit into a push's data. */
const DIRECTORY_MAX_CHARS = 1_000;

export interface HookNotifierOptions {
  clock: Clock;
  /** Throws RelayError. */
  send(push: PushRequestInput, options: { signal: AbortSignal }): Promise<unknown>;
  /** Encrypts the notification for the paired phones; `shown` is the data that the relay still sees. */
  seal(push: HostPush, shown: Record<string, unknown>): Promise<HostPush>;
  /** The id of this installation's hooks. */
  hookId(): Promise<string>;
  /** True if the project in one of these directories is muted. */
  isMuted(...directories: string[]): Promise<boolean>;
  /** True if a card shows this session's dialog on the phones. */
  isCovered(session: string): Promise<boolean>;
  /** The last message in an agent's transcript; undefined until it is written. */
  lastWords(agent: string, transcript: string): Promise<string | undefined>;
  log(line: string): void;
}

interface Entry {
  /** Assigned here, so that a repeated send is one push. */
  id: string;
  /** By the clock's `elapsed`: when it was queued. */
  at: number;
  report: Pick<HookReport, "agent" | "event" | "cwd" | "session">;
  news: HookNews;
  /** Further directories in which the session's project may lie. */
  directories: readonly string[];
}

/** The `event` in the data of a push that carries a dialog's text. */
export const DIALOG_EVENT = "dialog";
/**
 * A hook may report a dialog before it is on the screen: the hook's notice is sent only if no dialog appears within
 * this time.
 */
export const DIALOG_SHOWN_MS = 2_500;
/** How long a dialog's text replaces a hook's notice. */
export const DIALOG_COVERS_MS = 60_000;
/** The listener notices within this time that a dialog was closed, since a hook's report makes it check at once. */
export const DIALOG_CLOSING_MS = 500;

/** A pane's last dialog, by the clock's `elapsed`. */
interface ShownDialog {
  openedAt: number;
  /** Infinity while it is open. */
  closedAt: number;
}

export class HookNotifier {
  #options: HookNotifierOptions;
  #queue: Entry[] = [];
  #working: Promise<void> | undefined;
  #end = new AbortController();
  /** By pane, which a rename of its session does not change. */
  readonly #dialogs = new Map<string, ShownDialog>();

  constructor(options: HookNotifierOptions) {
    this.#options = options;
  }

  /**
   * Queues the report's notification, if it has one and is not from a tool of the session's agent. `session`: the one that
   * the report names. Never throws.
   */
  take(report: HookReport, session?: NamedSession): void {
    const { news } = report;
    if (news === undefined || session?.isOfTool || this.#end.signal.aborted) return;
    const title = session?.label === undefined ? news.title : sessionTitle(session.label, news.type);
    const [id, at] = [crypto.randomUUID(), this.#options.clock.elapsed()];
    const entry = { id, at, report, news: { ...news, title }, directories: session?.directories ?? [] };
    if (news.type === "agent.attention" && report.session !== undefined) {
      void this.#unlessShown(entry, session?.pane);
    } else this.#add(entry);
  }

  /** Queues the text of a dialog, as the screen shows it. Never throws. */
  dialog({ id, session, pane, agent, label, cwd, directories, text }: DialogNews): void {
    const at = this.#options.clock.elapsed();
    setNewest(this.#dialogs, [pane, { openedAt: at, closedAt: Infinity }], { max: DIALOGS_MAX });
    const type = "agent.attention";
    const news: HookNews = { type, title: sessionTitle(label, type), ...(text === "" ? {} : { body: text }) };
    this.#add({ id, at, report: { agent, event: DIALOG_EVENT, cwd, session }, news, directories });
  }

  /** The pane has shown no dialog since `at`, by the clock's `elapsed`. Never throws. */
  dialogClosed(pane: string, at: number): void {
    const shown = this.#dialogs.get(pane);
    if (shown !== undefined) shown.closedAt = at;
  }

  /** Queues a hook's notice, unless the dialog itself appears: its text says more. */
  async #unlessShown(entry: Entry, pane: string | undefined): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#end;
    try {
      await delay(DIALOG_SHOWN_MS, { clock, signal });
    } catch {
      return;
    }
    const shown = this.#dialogs.get(pane ?? "");
    if (shown === undefined || !isNoticeOf(shown, { at: entry.at, now: clock.elapsed() })) this.#add(entry);
  }

  #add(entry: Entry): void {
    if (this.#end.signal.aborted) return;
    if (this.#queue.length >= NOTIFICATIONS_MAX) this.#queue.shift();
    this.#queue.push(entry);
    this.#working ??= this.#work();
  }

  /** Drops what is still queued. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let entry = this.#queue.shift(); entry !== undefined; entry = this.#queue.shift()) {
      try {
        await this.#notify(entry);
      } catch (error) {
        if (this.#end.signal.aborted) break;
        const why = relayErrorText(error);
        this.#options.log(`hook ${entry.report.event} ${entry.report.agent}: ${why}`);
      }
    }
    this.#working = undefined;
  }

  async #body({ at, news, report }: Entry): Promise<string | undefined> {
    const { clock, lastWords } = this.#options;
    const { body, transcript } = news;
    if (body !== undefined || transcript === undefined) return body;
    for (;;) {
      const message = await lastWords(report.agent, transcript);
      if (message !== undefined || clock.elapsed() - at > TRANSCRIPT_LIMIT_MS) return message;
      await delay(TRANSCRIPT_POLL_MS, { clock, signal: this.#end.signal });
    }
  }

  async #notify(entry: Entry): Promise<void> {
    const { clock, isMuted, isCovered, hookId } = this.#options;
    const { report: { cwd, session }, news, directories } = entry;
    if (await isMuted(cwd, ...directories)) return;
    const isQuiet = news.type === "agent.attention" && session !== undefined && await isCovered(session);
    // The text of a dialog must be there when its card is withdrawn.
    if (isQuiet && entry.report.event !== DIALOG_EVENT) return;
    const plain = toPush(entry, { hookId: await hookId(), body: await this.#body(entry) });
    if (isQuiet) plain.data = { ...plain.data, quiet: true };
    const { cwd: _place, ...shown } = plain.data ?? {};
    // Sealed once: a retry must send the same push.
    const push = await this.#options.seal(plain, shown);
    const { signal } = this.#end;
    const limitMs = NOTIFICATION_LIFE_MS - (clock.elapsed() - entry.at);
    await retryRelay(() => this.#options.send(push, { signal }), { limitMs, clock, signal });
  }
}

/** True if the notice is about this dialog: it opened after the notice was queued, or was still open then. */
function isNoticeOf({ openedAt, closedAt }: ShownDialog, { at, now }: { at: number; now: number }): boolean {
  const wasOpen = openedAt >= at || closedAt - at > DIALOG_CLOSING_MS;
  return wasOpen && now - openedAt <= DIALOG_COVERS_MS;
}

function toPush(
  { id, report, news: { type, title } }: Entry,
  { hookId, body }: { hookId: string; body: string | undefined },
): HostPush {
  const { agent, event, cwd, session } = report;
  const place = cwd.length <= DIRECTORY_MAX_CHARS ? { cwd } : {};
  return {
    id,
    type,
    title: title.slice(0, TITLE_MAX_CHARS),
    ...(body === undefined ? {} : { body }),
    ...(session !== undefined && isSessionName(session) ? { agentSessionName: session } : {}),
    data: { hookId, agent, event, ...place },
  };
}

/** A listener that also notifies the phones of hook events. */
export function withNotifications(listener: RunningListener, notifier: HookNotifier): RunningListener {
  return {
    status: () => listener.status(),
    sessionBegins: (begun) => listener.sessionBegins(begun),
    look: () => listener.look(),
    gate: (report) => listener.gate(report),
    dialog: (report, call) => listener.dialog(report, call),
    covers: (session) => listener.covers(session),
    revokePhone: (phone) => listener.revokePhone(phone),
    hook(report) {
      const session = listener.hook(report);
      notifier.take(session === undefined ? report : { ...report, session: session.name }, session);
      return session;
    },
    stop: async () => void await Promise.all([notifier.stop(), listener.stop()]),
  };
}
