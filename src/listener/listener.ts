/** The listener: the link to the relay, and the parts that take pushes, mirror panes and report the inventory. */
import { runtime } from "#runtime";
import { systemClock } from "../async/clock.ts";
import { Wakeup } from "../async/wakeup.ts";
import { createRelayApi, type RelayApi } from "../client/api.ts";
import { problemText } from "../client/certificate_fault.ts";
import { type LinkState, RelayLink } from "../client/relay_link.ts";
import type { Config } from "../home/config.ts";
import type { DaemonStatus, DialogCall, DialogReply, HookReport } from "../home/control_socket.ts";
import { type HostKeys, hostKeys } from "../home/host_sealing.ts";
import { type Journal, openJournal } from "../home/journal.ts";
import { type Audit, openAudit } from "../home/log_files.ts";
import { isMuted, loadMuted } from "../home/muted.ts";
import { type HostIdentity, readIdentity } from "../home/pairing.ts";
import type { HomePaths } from "../home/paths.ts";
import type { EventData, Frame } from "../protocol/frames.ts";
import { UPLOAD_DEFAULT_MAX_BYTES } from "../protocol/limits.ts";
import type { Push } from "../protocol/push.ts";
import { socketFor } from "../runtime/direct_socket.ts";
import type { TmuxSession } from "../tmux/sessions.ts";
import { Acknowledger } from "./acknowledger.ts";
import { EndedAgents, startChoices } from "./agent_life.ts";
import { Cards } from "./cards/cards.ts";
import { EndedAtRelay, undoKilledListener } from "./earlier_listener.ts";
import { type Injection, SessionRateLimit, type TypingContext, typingEffects } from "./inject/context.ts";
import { Askers } from "./inject/find_pane.ts";
import { readLocalView } from "./inject/pane_check.ts";
import { PaneInputs } from "./inject/pane_inputs.ts";
import { dialogActions, policyOf, widenedBy } from "./inject/policy.ts";
import { type DetailFacts, DetailsReport, InventoryPolling } from "./inventory/reporter.ts";
import { type DialogNews, dialogNews, type NamedSession, statesFile } from "./inventory/session_entry.ts";
import { Mirrors } from "./mirror/mirrors.ts";
import { Reading } from "./mirror/viewer.ts";
import { runningVersion } from "./process_facts.ts";
import { KnownProjects, mutedProjects, projectsOf } from "./projects.ts";
import { pushSteps } from "./push_steps.ts";
import { PushIntake } from "./pushes.ts";
import { openTargets, type Targets } from "./targets.ts";
import { Uploads } from "./uploads.ts";
import { RelayClock } from "./waiting_pushes.ts";

/** The listener's own part of the daemon's status. Fields beyond these are passed through. */
export type ListenerStatus = Pick<DaemonStatus, "connected" | "sessions"> & Record<string, unknown>;

export interface RunningListener {
  status(): ListenerStatus;
  /** Takes an agent's hook report, and finds the session that it names. Must not throw. */
  hook(report: HookReport): NamedSession | undefined;
  /** A tool call is about to begin: resolves once no input is in flight into the agent's pane. Must not throw. */
  gate(report: HookReport): Promise<void>;
  /**
   * Asks the phones about the dialog of a hook that waits until `gone`. Resolves to the answer, or to undefined without
   * one. Must not throw.
   */
  dialog(report: HookReport, call: DialogCall & { gone: AbortSignal }): Promise<DialogReply | undefined>;
  /** True if a card shows this session's dialog on the phones. Must not throw. */
  covers(session: string): Promise<boolean>;
  /** A session is about to begin: it may do so once this resolves. `begun` is aborted when it has. Must not throw. */
  sessionBegins(begun: AbortSignal): Promise<void>;
  /** A session or a relay has started: ends a wait for the relay, and reads the inventory. Must not throw. */
  look(): void;
  /** A phone was revoked: ends its streams. Must not throw. */
  revokePhone(phone: string): void;
  /** Accepts nothing more, finishes the current injection, and closes every connection and timer. */
  stop(): Promise<void>;
}

export interface ListenerOptions {
  paths: HomePaths;
  config: Config;
  wsUrl: string;
  baseUrl: string;
  apiKey: string;
  version: string;
  env: Readonly<Record<string, string>>;
  /**
   * Writes one line to listener.log, after `[<time>] ` unless it begins with `! `: the specification defines those
   * without a time.
   */
  log(line: string): void;
  /** Called when an agent shows a new dialog, and when its session no longer shows one. */
  dialogs?: { opened(dialog: DialogNews): void; closed(pane: string, at: number): void };
}

/** What this listener supports. */
const CAPABILITIES = ["agent.command", "agent.start", "agent.end", "project.mute", "pane.open"];

const now = (): number => Date.now();

/** Resolves once the timers are running and the connection is being made. */
export async function startListener(options: ListenerOptions): Promise<RunningListener> {
  const journal = await openJournal({ files: runtime.files, path: options.paths.journal, now });
  if (journal.damage !== undefined) options.log(journal.damage);
  const host = await readIdentity(options);
  return new Listener(options, { journal, audit: openAudit(runtime.files, options.paths.audit), host });
}

class Listener implements RunningListener {
  readonly #options: ListenerOptions;
  readonly #host: HostIdentity;
  readonly #journal: Journal;
  readonly #audit: Audit;
  readonly #api: RelayApi;
  readonly #keys: HostKeys;
  readonly #cards: Cards;
  readonly #askers = new Askers();
  readonly #targets: Targets;
  readonly #inputs = new PaneInputs();
  readonly #link: RelayLink;
  readonly #inventory: InventoryPolling;
  readonly #endedAgents: EndedAgents;
  readonly #acknowledger: Acknowledger;
  readonly #pushes: PushIntake;
  readonly #ended: EndedAtRelay;
  readonly #uploads: Uploads;
  readonly #mirrors: Mirrors;
  readonly #restoring: Promise<void>;
  /** Ends the pauses of held messages. */
  readonly #messages = new Wakeup();
  readonly #relayClock = new RelayClock({ jumped: () => this.#link.restart() });

  constructor(
    options: ListenerOptions,
    { journal, audit, host }: { journal: Journal; audit: Audit; host: HostIdentity },
  ) {
    const { log } = options;
    this.#options = options;
    this.#journal = journal;
    this.#audit = audit;
    this.#host = host;
    this.#api = createRelayApi(options);
    this.#keys = hostKeys({
      files: runtime.files,
      paths: options.paths,
      api: this.#api,
      now,
      deviceId: host.deviceId,
      hostname: host.name,
    });
    this.#targets = openTargets(options);
    this.#endedAgents = new EndedAgents({ ...runtime, clock: systemClock, log });
    this.#link = this.#makeLink();
    const projects = new KnownProjects(runtime.files, options.paths);
    this.#inventory = this.#makeInventory(projects);
    this.#acknowledger = new Acknowledger({
      secretOf: (phone) => this.#keys.secretOf(phone, { orScript: true }),
      ownSecret: () => this.#keys.ownSecret(),
      isLasting: (id) => journal.isLasting(id),
      send: (ack) => void this.#link.send("push.ack", ack),
      log,
    });
    const injection = this.#injection();
    this.#cards = this.#makeCards(injection);
    this.#pushes = this.#makePushes(injection, projects);
    this.#ended = new EndedAtRelay({
      journal,
      find: (id, given) => this.#api.getPush(id, given),
      receive: (push) => this.#pushes.receive(push),
      log,
    });
    this.#uploads = this.#makeUploads();
    this.#mirrors = this.#makeMirrors(injection);
    this.#restoring = undoKilledListener(this.#targets, log);
    this.#link.start();
    this.#inventory.start();
  }

  status(): ListenerStatus {
    const { connected } = this.#link;
    return { connected, sessions: this.#inventory.sessions, deviceId: this.#host.deviceId };
  }

  hook(from: HookReport): NamedSession | undefined {
    const report = this.#inventory.placed(from);
    this.#inputs.hook(report);
    this.#messages.wake();
    this.#cards.hook(report);
    this.#askers.hook(report);
    this.#inventory.hook(report);
    return this.#inventory.namedIn(report);
  }

  async gate(from: HookReport): Promise<void> {
    const report = this.#inventory.placed(from);
    this.#cards.hook(report);
    this.#inventory.hook(report);
    await this.#inputs.toolBegins(report);
  }

  dialog(report: HookReport, call: DialogCall & { gone: AbortSignal }): Promise<DialogReply | undefined> {
    return this.#cards.ask(this.#inventory.placed(report), call);
  }

  covers(session: string): Promise<boolean> {
    return this.#cards.covers(session);
  }

  sessionBegins(begun: AbortSignal): Promise<void> {
    return this.#targets.sessionBegins(begun);
  }

  look(): void {
    if (!this.#link.connected) this.#link.reconnectNow();
    this.#inventory.readNow();
  }

  revokePhone(phone: string): void {
    this.#mirrors.revoke(phone);
    void this.#pushes.revoke(phone);
  }

  async stop(): Promise<void> {
    this.#cards.stop();
    this.#pushes.stop();
    this.#inventory.stop();
    await this.#pushes.idle();
    await this.#inventory.close();
    await this.#restoring;
    this.#link.close();
    await this.#mirrors.close();
    await this.#uploads.close();
    await this.#targets.close();
    await this.#endedAgents.close();
    await this.#journal.close();
    await this.#audit.close();
  }

  #hello(): EventData<"hello"> {
    const { name, deviceId, publicKey } = this.#host;
    return {
      role: "listener",
      deviceId,
      name,
      version: this.#options.version,
      capabilities: CAPABILITIES,
      ...(publicKey === undefined ? {} : { publicKey }),
    };
  }

  #onFrame(frame: Frame): void {
    switch (frame.event) {
      case "push.new":
        this.#acknowledger.expect(frame.data);
        return this.#receive(this.#cards.placed(frame.data));
      case "push.soon":
        return this.#pushes.expect(frame.data);
      case "listener.stored":
        return this.#inventory.stored(frame.data.count);
      case "listener.rejected":
        return this.#inventory.rejected(frame.data.reason);
      case "pane.open":
        return void this.#mirrors.open(frame.data);
      case "pane.closed":
        return this.#mirrors.closed(frame.data.stream);
      case "pane.credit":
        return this.#mirrors.credit(frame.data);
      case "pane.scrollback":
        return this.#mirrors.scrollback(frame.data);
    }
  }

  #onState(state: LinkState): void {
    const { log, wsUrl } = this.#options;
    if (state.state === "connected") {
      this.#relayClock.connected(state.clockOffsetMs);
      this.#ended.search();
      this.#inventory.connected();
      this.#cards.connected();
      log(`connected to ${wsUrl}`);
    } else if (state.state === "waiting") {
      // Another listener of this device took over: it types what is held or queued here.
      if (state.problem?.code === "replaced") this.#pushes.drop();
      this.#mirrors.lost();
      log(`disconnected${problemText(state.problem)} (next try in ${Math.round(state.retryInMs)} ms)`);
    }
  }

  /** Messages are typed behind no text of a message that has ended. */
  #receive(push: Push): void {
    const { searching } = this.#ended;
    if (searching === undefined) return void this.#pushes.receive(push);
    void searching.then(() => this.#pushes.receive(push));
  }

  #makeLink(): RelayLink {
    const { wsUrl, apiKey, env } = this.#options;
    return new RelayLink({
      wsUrl,
      apiKey,
      hello: () => this.#hello(),
      onFrame: (frame) => this.#onFrame(frame),
      onBinary: (bytes) => this.#mirrors.bytes(bytes),
      onState: (state) => this.#onState(state),
      createSocket: socketFor(env),
    });
  }

  #makeInventory(projects: KnownProjects): InventoryPolling {
    const { paths, config, log } = this.#options;
    return new InventoryPolling({
      sessions: () => this.#readSessions(projects),
      server: (socket) => this.#targets.anyServer(socket),
      version: (pid) => runningVersion(pid, runtime),
      widened: widenedBy(policyOf(config)),
      dialogActions: dialogActions(policyOf(config)),
      dialogOpened: (session, dialog) => this.#options.dialogs?.opened(dialogNews(session, dialog)),
      dialogClosed: (pane, at) => this.#options.dialogs?.closed(pane, at),
      observed: (sessions) => this.#relayClock.isKnown && this.#pushes.observe(sessions),
      muted: async () => {
        const muted = await loadMuted(runtime.files, paths);
        return (...directories) => isMuted(muted, ...directories);
      },
      details: this.#details(projects),
      states: statesFile(runtime.files, paths),
      send: (report) => this.#link.send("listener.sessions", report),
      log,
    });
  }

  #details(projects: KnownProjects): DetailsReport {
    const { config, paths } = this.#options;
    const choices = startChoices({ commands: runtime.commands, projects, now });
    const facts = async (): Promise<DetailFacts> => {
      const seen = { lines: this.#inventory.lines(), muted: await mutedProjects(paths) };
      return config.allowAgentStart === true ? { ...seen, start: await choices() } : seen;
    };
    return new DetailsReport({ keys: this.#keys, config, facts, now });
  }

  async #readSessions(projects: KnownProjects): Promise<TmuxSession[]> {
    this.#relayClock.check();
    const sessions = await this.#targets.sessions();
    this.#targets.holdClients(sessions);
    await this.#endedAgents.take(sessions);
    const failed = (error: unknown): void => this.#options.log(`projects: not remembered: ${error}`);
    await projects.learn(projectsOf(sessions)).catch(failed);
    return sessions;
  }

  #injection(): Injection {
    return {
      targets: this.#targets,
      inputs: this.#inputs,
      now,
      elapsed: systemClock.elapsed,
      policy: policyOf(this.#options.config),
      effects: typingEffects(this.#options.paths),
      rateLimit: new SessionRateLimit(systemClock.elapsed),
      typed: () => this.#inventory.typed(),
      pause: (ms) => this.#messages.sleep(ms),
      record: (id, step, earlier) => this.#journal.record(id, { step, ...earlier }),
      report: (id, progress) => this.#pushes.report(id, progress),
    };
  }

  #makePushes(injection: Injection, projects: KnownProjects): PushIntake {
    const { config, log } = this.#options;
    return new PushIntake({
      ...pushSteps({
        ...this.#options,
        injection,
        targets: this.#targets,
        projects,
        dialogOf: (session) => this.#inventory.dialogOf(session),
        cards: this.#cards,
        askers: this.#askers,
        keys: this.#keys,
        audit: this.#audit,
      }),
      journal: this.#journal,
      agents: this.#inventory.agents,
      acknowledge: (ack) => this.#acknowledger.acknowledge(ack),
      log,
      now,
      toLocalTime: (relayMs) => this.#relayClock.toLocalTime(relayMs),
      floor: () => this.#keys.floor(config),
    });
  }

  #makeCards({ policy, effects }: Injection): Cards {
    const { config: { neverAllow = [] }, log } = this.#options;
    return new Cards({
      clock: systemClock,
      keys: this.#keys,
      policy,
      neverAllow,
      log,
      isMuted: (one) => effects.isMuted(one.cwd, ...this.#inventory.namedIn(one)?.directories ?? []),
      look: (place) => readLocalView(this.#targets, place),
      isLinked: () => this.#link.connected,
      send: (push, given) => this.#api.sendPush(push, given),
      openQuestions: (before) => this.#api.listPushes({ before, open: "questions" }),
      withdraw: (id) => void this.#link.send("push.ack", { id, outcome: "withdrawn", final: true }),
      dialogOnScreen: (session) => this.#inventory.dialogOf(session)?.id,
      report: (report) => this.#inventory.hook(this.#inventory.placed(report)),
    });
  }

  #makeMirrors(typing: TypingContext): Mirrors {
    const { config, log } = this.#options;
    const reading = new Reading({ cards: this.#cards, audit: this.#audit, clock: systemClock, log });
    return new Mirrors({
      targets: this.#targets,
      typing,
      keys: this.#keys,
      config,
      link: this.#link,
      audit: this.#audit,
      uploads: this.#uploads,
      clock: systemClock,
      log,
      read: (input, reader) => reading.answer(input, reader),
    });
  }

  #makeUploads(): Uploads {
    const { config, paths, log } = this.#options;
    const { files, uid } = runtime;
    return new Uploads({
      files,
      uid,
      root: paths.root,
      directory: paths.uploads,
      clock: systemClock,
      log,
      maxBytes: config.uploadMaxBytes ?? UPLOAD_DEFAULT_MAX_BYTES,
      sessions: () => this.#targets.sessions(),
      isMuted: typingEffects(paths).isMuted,
      record: (entry) => this.#audit.record(entry),
    });
  }
}
