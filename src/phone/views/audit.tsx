/** A host's audit log: who sent what into which session, and what became of it. Never the texts. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Clock, systemClock } from "../../async/clock.ts";
import { RelayError } from "../../client/relay_error.ts";
import type { AuditEntry } from "../../protocol/audit.ts";
import type { Device } from "../../protocol/http.ts";
import { AUDIT_ENTRIES_SHOWN_MAX } from "../../protocol/limits.ts";
import { REASONS } from "../../protocol/reasons.ts";
import { PUSH_STATES } from "../../protocol/receipt.ts";
import { download } from "../browser.ts";
import { formatTime } from "../format_time.ts";
import { allSessions, type HostSession, type SessionName } from "../sessions.ts";
import { type PhoneState, relayNow } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { AUDIT_STRINGS, type AuditStrings } from "../strings_settings.ts";
import { TerminalStream } from "../terminal_stream.ts";
import type { MirrorOpener, TerminalViewer } from "../terminal_streams.ts";
import { ASK_AGAIN_MS, SILENT_MS } from "../whole_request.ts";
import type { NamedHost } from "./settings.tsx";
import { PageHead, useNow } from "./shared.tsx";

const TEXT: AuditStrings = STRINGS.audit ?? AUDIT_STRINGS;
const AGES_EVERY_MS = 60_000;
const DIGEST_SHOWN_CHARS = 12;

export interface AuditActions {
  mirror: MirrorOpener;
  pairedHosts(): readonly NamedHost[];
  /** Throws RelayError. */
  devices(): Promise<readonly Device[]>;
}

interface Props {
  state: PhoneState;
  /** The link's notice. */
  notice: JSX.Element;
  actions: AuditActions;
  deviceId: string;
}

export function AuditView({ state, notice, actions, deviceId }: Props): JSX.Element {
  const now = relayNow(state, useNow(AGES_EVERY_MS));
  const device = state.devices?.find((one) => one.deviceId === deviceId);
  const session = device?.online ? auditSession(allSessions([device])) : undefined;
  const isLive = state.link.kind === "live";
  const { log, readOlder } = useAuditLog(isLive ? session : undefined, actions.mirror);
  const names = useDeviceNames(actions, isLive);
  const host = actions.pairedHosts().find((one) => one.deviceId === deviceId)?.host ?? device?.host ?? "";
  const { entries } = log;
  const why = session !== undefined ? undefined : device?.online ? TEXT.noSession : TEXT.offline;
  return (
    <div class="page">
      <PageHead heading={TEXT.heading} back={TEXT.back} backTo={{ view: "settings" }} />
      <main class="picker settings audit">
        <p class="lead">{TEXT.lead(host)}</p>
        <ol class="cards">
          {entries.map((entry, place) => (
            <Entry
              key={entries.length - place}
              {...{ entry, now }}
              from={names.get(entry.device) ?? entry.device}
            />
          ))}
        </ol>
        <Progress log={log} why={log.kind === "read" ? undefined : why} onRead={readOlder} />
        {entries.length > 0 && (
          <button type="button" class="secondary" onClick={() => save(entries, host)}>
            {TEXT.save(entries.length)}
          </button>
        )}
      </main>
      {notice}
    </div>
  );
}

const NOTHING_READ: AuditState = { entries: [], kind: "failed", more: true };

/** Reads the first page as soon as there is a session through which to ask. */
function useAuditLog(
  session: SessionName | undefined,
  mirror: MirrorOpener,
): { log: AuditState; readOlder(): void } {
  const [state, setState] = useState<AuditState>();
  const reader = useRef<AuditLog | undefined>(undefined);
  useEffect(() => () => reader.current?.close(), []);
  const readOlder = (): void => {
    if (session === undefined) return;
    reader.current ??= new AuditLog({
      session,
      open: (name, viewer) => mirror(name, viewer, TerminalStream),
      onState: setState,
    });
    reader.current.readOlder();
  };
  useEffect(() => {
    if (state === undefined) readOlder();
  }, [session?.session]);
  return {
    log: state ?? (session === undefined ? NOTHING_READ : { ...NOTHING_READ, kind: "reading" }),
    readOlder,
  };
}

/** The names of devices by id; empty until the relay has answered. */
function useDeviceNames(actions: AuditActions, isLive: boolean): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const load = async (): Promise<void> => {
    try {
      const devices = await actions.devices();
      setNames(new Map(devices.map(({ id, name }) => [id, name])));
    } catch (error) {
      // The ids are shown instead.
      if (!(error instanceof RelayError)) throw error;
    }
  };
  useEffect(() => {
    if (isLive) void load();
  }, [isLive]);
  return names;
}

function Entry({ entry, from, now }: { entry: AuditEntry; from: string; now: number }): JSX.Element {
  const { time, session, outcome, length, digest, about } = entry;
  const shown = outcomeText(outcome);
  return (
    <li class="card">
      <div class="card-head">
        <span class="label">{shown.state}</span>
        <time dateTime={time}>{formatTime(Date.parse(time), now)}</time>
      </div>
      {shown.reason !== "" && <p>{shown.reason}</p>}
      <p class="facts">
        <span>{session}</span>
        <span>{TEXT.from(from)}</span>
        <span>{shown.isFile ? TEXT.bytes(length) : TEXT.characters(length)}</span>
      </p>
      {about !== undefined && (
        <p class="facts">
          <span>{Object.hasOwn(TEXT.actions, about) ? TEXT.actions[about] : about}</span>
        </p>
      )}
      <p class="facts">
        <span>
          {TEXT.digest} <code>{digest.slice(0, DIGEST_SHOWN_CHARS)}</code>
        </span>
      </p>
    </li>
  );
}

/**
 * Describes an outcome such as `submitted`, `refused shell_in_pane`, `keys typed` or `upload stored`. An unknown word
 * is shown as it is.
 */
function outcomeText(outcome: string): { state: string; reason: string; isFile: boolean } {
  const words = outcome.split(" ");
  const kind = words[0] === "keys" || words[0] === "upload" ? words.shift() : undefined;
  const [word = "", code = ""] = words;
  const known = PUSH_STATES.find((one) => one === word);
  const state = known !== undefined ? STRINGS.receipt.states[known] : word === "stored" ? TEXT.stored : word;
  const reason = Object.hasOwn(REASONS, code) ? STRINGS.reasons[code as keyof typeof REASONS] : code;
  const text = kind === "keys" ? TEXT.keys(state) : kind === "upload" ? TEXT.file(state) : state;
  return { state: text, reason, isFile: kind === "upload" };
}

interface ProgressProps {
  log: AuditState;
  /** Why the host cannot be asked now. */
  why: string | undefined;
  onRead(): void;
}

function Progress({ log: { kind, entries, more }, why, onRead }: ProgressProps): JSX.Element {
  if (kind === "read") {
    if (entries.length === 0) return <p class="hint" role="status">{TEXT.none}</p>;
    if (!more) {
      return (
        <p class="hint" role="status">{entries.length < AUDIT_ENTRIES_SHOWN_MAX ? TEXT.all : TEXT.end}</p>
      );
    }
    return <button type="button" class="secondary" onClick={onRead}>{TEXT.older}</button>;
  }
  if (why !== undefined) return <p class="hint" role="status">{why}</p>;
  if (kind === "failed") {
    return (
      <div class="panel" role="alert">
        <p class="problem">{TEXT.failed}</p>
        <button type="button" class="secondary" onClick={onRead}>{TEXT.again}</button>
      </div>
    );
  }
  return <p class="hint" role="status">{kind === "unpaired" ? TEXT.unpaired : TEXT.reading}</p>;
}

/** Saves the entries as they are on the host: oldest first, one line of JSON each. */
function save(entries: readonly AuditEntry[], host: string): void {
  const lines = entries.toReversed().map((entry) => `${JSON.stringify(entry)}\n`);
  const day = new Date().toISOString().slice(0, 10);
  download(new Blob(lines, { type: "application/jsonl" }), `svc-audit-${host || "host"}-${day}.jsonl`);
}

export interface AuditState {
  /** Newest first. */
  entries: readonly AuditEntry[];
  /** `failed`: reading can be tried again. `unpaired`: this phone shares no secret with the host. */
  kind: "reading" | "read" | "failed" | "unpaired";
  /** The host has older ones. */
  more: boolean;
}

interface AuditOptions {
  session: SessionName;
  open(name: SessionName, viewer: TerminalViewer): Pick<TerminalStream, "upload" | "close"> | undefined;
  onState(state: AuditState): void;
  clock?: Clock;
}

/** A running session through which the host can be asked, if there is one. */
export function auditSession(sessions: readonly HostSession[]): SessionName | undefined {
  const found = sessions.find(({ entry }) => entry.state !== "exited");
  return found && { deviceId: found.deviceId, session: found.entry.name };
}

/** Reads the log a page at a time, newest first, over a sealed mirror of one of the host's sessions. */
export class AuditLog {
  readonly #options: AuditOptions;
  readonly #clock: Clock;
  #state: AuditState = { entries: [], kind: "read", more: true };
  #stream: Pick<TerminalStream, "upload" | "close"> | undefined;
  #isLive = false;
  #heardAt = 0;
  #cancelWait: () => void = () => {};

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Reads the next older page. */
  readOlder(): void {
    if (this.#state.kind === "reading" || this.#state.kind === "unpaired") return;
    this.#heardAt = this.#clock.elapsed();
    this.#set({ kind: "reading" });
    this.#stream ??= this.#options.open(this.#options.session, this.#viewer);
    this.#ask();
  }

  close(): void {
    this.#cancelWait();
    this.#stream?.close();
  }

  /** The stream also mirrors the session; its output is discarded. */
  readonly #viewer: TerminalViewer = {
    terminal: { write: (_data, done) => done?.(), resize: () => {}, input: () => {} },
    onState: (state) => {
      this.#isLive = state.kind === "live";
      if (state.kind === "live" && state.sealing !== "psk") return this.#end("unpaired");
      if (state.kind === "ended" && state.lasting) return this.#end("failed");
      if (this.#isLive) this.#ask();
    },
    onStatus: ({ audit }) => {
      // A page that was requested twice arrives twice.
      if (
        audit === undefined || this.#state.kind !== "reading" || audit.skip !== this.#state.entries.length
      ) {
        return;
      }
      this.#cancelWait();
      this.#set({
        kind: "read",
        entries: [...this.#state.entries, ...audit.entries],
        more: audit.more && audit.entries.length > 0,
      });
    },
    onDrawn: () => {},
  };

  /** Repeats the request until the host answers: it may have slowed this phone down. */
  #ask(): void {
    this.#cancelWait();
    if (this.#state.kind !== "reading") return;
    if (this.#clock.elapsed() - this.#heardAt >= SILENT_MS) return this.#end("failed");
    if (this.#isLive) void this.#stream?.upload({ type: "audit.read", skip: this.#state.entries.length });
    this.#cancelWait = this.#clock.after(ASK_AGAIN_MS, () => this.#ask());
  }

  #end(kind: "failed" | "unpaired"): void {
    if (this.#state.kind !== "reading") return;
    this.#cancelWait();
    this.#stream?.close();
    this.#stream = undefined;
    this.#isLive = false;
    this.#set({ kind });
  }

  #set(change: Partial<AuditState>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.onState(this.#state);
  }
}
