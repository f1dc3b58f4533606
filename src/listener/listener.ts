/** The listener's parts put together: the link to the relay, the inventory, and the injection with its real effects. */
import { Wakeup } from "../async/wakeup.ts";
import { systemClock } from "../async/clock.ts";
import { createRelayApi } from "../client/api.ts";
import { type LinkState, RelayLink } from "../client/relay_link.ts";
import { resolveBaseUrl } from "../home/addresses.ts";
import { type Audit, openAudit } from "../home/audit.ts";
import type { HookReport } from "../home/control_messages.ts";
import { type Journal, openJournal } from "../home/journal.ts";
import { KnownProjects } from "../home/known_projects.ts";
import { isMuted, loadMuted } from "../home/muted.ts";
import { type SealedKeys, sealedKeys } from "../home/host_sealing.ts";
import type { EventData, Frame } from "../protocol/frames.ts";
import type { Push } from "../protocol/push.ts";
import { socketFor } from "../runtime/direct_socket.ts";
import { runtime } from "#runtime";
import { Acknowledger } from "./acknowledge.ts";
import { runningVersion } from "./process_facts.ts";
import { auditEntry } from "./audit_entry.ts";
import { bindInjectHost } from "./inject/bind_inject_host.ts";
import { bindMirrors, unfitAll } from "./mirror/bind_mirrors.ts";
import { bindStartHost, projectsOf, startAgent, type StartHost } from "./start_agent.ts";
import { EndedAgents } from "./ended_agents.ts";
import { type HostNames, hostNames } from "./host_names.ts";
import { inject } from "./inject/inject.ts";
import type { InjectHost } from "./inject/inject_host.ts";
import { Inventory, POLL_SOON_MS } from "./inventory/inventory.ts";
import type { Mirrors } from "./mirror/mirrors.ts";
import { type Outcome, Stopping } from "./inject/outcome.ts";
import { GATE_HOLD_MS, PaneInputs } from "./inject/pane_input.ts";
import { policyOf, widenedBy } from "./inject/policy.ts";
import { PushIntake, SessionQueues } from "./pushes.ts";
import { Reporter } from "./inventory/reporter.ts";
import { unseal } from "./sealing.ts";
import { tmuxEnvironment, withEnvironment } from "../tmux/server.ts";
import type { TmuxSession } from "../tmux/sessions.ts";
import { distrustLog } from "../tmux/trust.ts";
import { Targets } from "./targets.ts";
import type { ListenerOptions, ListenerStatus, RunningListener } from "./types.ts";

/** What this listener acts on. */
const CAPABILITIES = ["agent.command", "agent.start", "pane.open"];

const now = (): number => Date.now();

/** Resolves once the timers run and the connection is being made. */
export async function startListener(options: ListenerOptions): Promise<RunningListener> {
  const { files } = runtime;
  const journal = await openJournal({ files, path: options.paths.journal, now });
  if (journal.damaged > 0) options.log(`journal: ${journal.damaged} damaged line(s) skipped`);
  const host = await hostNames(options);
  return new Listener(options, { journal, audit: openAudit(files, options.paths.audit), host });
}

class Listener implements RunningListener {
  #options: ListenerOptions;
  #journal: Journal;
  #audit: Audit;
  #host: HostNames;
  #targets: Targets;
  #link: RelayLink;
  #inventory: Inventory;
  #reporter: Reporter;
  #intake: PushIntake;
  #acknowledger: Acknowledger;
  #sealedKeys: SealedKeys;
  #mirrors: Mirrors;
  #projects: KnownProjects;
  #queues = new SessionQueues();
  #endedAgents: EndedAgents;
  #inputs = new PaneInputs(now, (done) => orAfter(done, GATE_HOLD_MS));
  readonly #messages = new Wakeup();
  readonly #polls = new Wakeup();
  /** Aborted with Stopping when the daemon stops, or replaced when another listener takes over. */
  #injecting = new AbortController();
  readonly #polling = new AbortController();
  #reporting: Promise<void>;
  #unfitting: Promise<void>;
  #soon: ReturnType<typeof setTimeout> | undefined;
  /** Relay's clock minus this one, in milliseconds. */
  #clockOffsetMs = 0;

  constructor(
    options: ListenerOptions,
    { journal, audit, host }: { journal: Journal; audit: Audit; host: HostNames },
  ) {
    this.#options = options;
    this.#journal = journal;
    this.#audit = audit;
    this.#host = host;
    const { files } = runtime;
    this.#targets = bindTargets(options);
    this.#endedAgents = new EndedAgents({ ...runtime, clock: systemClock, log: options.log });
    this.#projects = new KnownProjects(files, options.paths);
    this.#link = new RelayLink({
      wsUrl: options.wsUrl,
      apiKey: options.apiKey,
      hello: () => this.#hello(),
      onFrame: (frame) => this.#onFrame(frame),
      onBinary: (bytes) => this.#mirrors.bytes(bytes),
      onState: (state) => this.#onState(state),
      createSocket: socketFor(options.env),
    });
    this.#inventory = this.#makeInventory();
    this.#reporter = this.#makeReporter();
    this.#sealedKeys = this.#makeSealedKeys();
    this.#acknowledger = new Acknowledger({
      secretOf: (phone) => this.#sealedKeys.secretOf(phone),
      isLasting: (id) => this.#journal.isLasting(id),
      send: (ack) => void this.#link.send("push.ack", ack),
      log: options.log,
    });
    const injectHost = this.#makeInjectHost();
    this.#intake = this.#makeIntake(injectHost);
    this.#mirrors = this.#makeMirrors(injectHost);
    this.#unfitting = unfitAll(this.#targets).catch((error) =>
      options.log(`windows: not given back: ${error}`)
    );
    this.#link.start();
    this.#reporting = this.#reporter.run().catch((error) => {
      if (!(error instanceof Stopping)) throw error;
    });
  }

  status(): ListenerStatus {
    return {
      connected: this.#link.connected,
      sessions: this.#reporter.sessions.length,
      deviceId: this.#host.deviceId,
    };
  }

  hook(report: HookReport): void {
    this.#inputs.hook(report);
    this.#inventory.take(report);
    this.#messages.wake();
    this.#polls.wake();
  }

  async gate(report: HookReport): Promise<void> {
    this.#inventory.take(report);
    this.#polls.wake();
    await this.#inputs.toolBegins(report);
  }

  look(): void {
    this.#polls.wake();
  }

  forget(phone: string): void {
    this.#mirrors.forget(phone);
  }

  async stop(): Promise<void> {
    this.#intake.stop();
    this.#injecting.abort(new Stopping("the daemon stops"));
    this.#polling.abort(new Stopping("the daemon stops"));
    await this.#queues.idle();
    clearTimeout(this.#soon);
    await this.#reporting;
    await this.#unfitting;
    this.#link.close();
    await this.#mirrors.close();
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
      ...(publicKey === undefined ? {} : { publicKey }),
      capabilities: CAPABILITIES,
    };
  }

  #onFrame(frame: Frame): void {
    switch (frame.event) {
      case "push.new":
        this.#acknowledger.expect(frame.data);
        return void this.#intake.receive(frame.data);
      case "listener.stored":
        return this.#reporter.stored(frame.data.count);
      case "listener.rejected":
        this.#reporter.rejected(frame.data.reason);
        return this.#polls.wake();
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
      this.#clockOffsetMs = state.clockOffsetMs;
      this.#reporter.connected();
      this.#polls.wake();
      log(`connected to ${wsUrl}`);
    } else if (state.state === "waiting") {
      if (state.problem?.code === "replaced") this.#letGo();
      this.#mirrors.lost();
      const why = state.problem ? `: ${state.problem.message}` : "";
      log(`disconnected${why} (next try in ${Math.round(state.retryInMs)} ms)`);
    }
  }

  /** Another listener of this device took over: what is held or queued here must not be typed by both. */
  #letGo(): void {
    this.#intake.drop();
    this.#injecting.abort(new Stopping("another listener took over"));
    this.#injecting = new AbortController();
  }

  #makeInventory(): Inventory {
    return new Inventory({
      sessions: () => this.#readSessions(),
      server: (socket) => this.#targets.anyServer(socket),
      version: (pid) => runningVersion(pid, runtime),
      widened: widenedBy(policyOf(this.#options.config)),
      muted: async () => {
        const muted = await loadMuted(runtime.files, this.#options.paths);
        return (directory) => isMuted(muted, directory);
      },
    });
  }

  async #readSessions(): Promise<TmuxSession[]> {
    const sessions = await this.#targets.sessions();
    await this.#endedAgents.take(sessions);
    await this.#projects.learn(projectsOf(sessions)).catch((error) =>
      this.#options.log(`projects: not remembered: ${error}`)
    );
    return sessions;
  }

  #makeReporter(): Reporter {
    return new Reporter(this.#inventory, {
      send: (report) => this.#link.send("listener.sessions", report),
      log: this.#options.log,
      pause: (ms) => this.#polls.sleep(ms, this.#polling.signal),
    });
  }

  #makeSealedKeys(): SealedKeys {
    const { paths, wsUrl, apiKey, config, env } = this.#options;
    const baseUrl = resolveBaseUrl({ option: wsUrl, config, env }) ?? "";
    const api = createRelayApi({ baseUrl, apiKey });
    const { files } = runtime;
    return sealedKeys({ files, paths, api, deviceId: this.#host.deviceId, hostname: this.#host.name, now });
  }

  #makeInjectHost(): InjectHost {
    return bindInjectHost({
      options: this.#options,
      targets: this.#targets,
      inputs: this.#inputs,
      now,
      typed: () => this.#readSoon(),
      pause: (ms) => this.#messages.sleep(ms, this.#injecting.signal),
      record: (id, step) => this.#journal.record(id, { step }),
      report: (id, progress) => this.#intake.report(id, progress),
    });
  }

  #makeStartHost(): StartHost {
    const record = (id: string, step: "typing"): Promise<void> => this.#journal.record(id, { step });
    return bindStartHost(this.#options, { record, projects: this.#projects });
  }

  #makeMirrors(inject: InjectHost): Mirrors {
    return bindMirrors({
      options: this.#options,
      targets: this.#targets,
      inject,
      keys: this.#sealedKeys,
      link: this.#link,
      audit: this.#audit,
    });
  }

  #makeIntake(host: InjectHost): PushIntake {
    return new PushIntake({
      journal: this.#journal,
      queues: this.#queues,
      inject: (command) => inject(command, host),
      start: (push) => startAgent(push, this.#makeStartHost()),
      leftBehind: (push) => this.#leftBehind(push),
      acknowledge: (ack) => this.#acknowledger.acknowledge(ack),
      ended: (push, outcome, elapsedMs) => this.#ended(push, { outcome, elapsedMs }),
      log: this.#options.log,
      now,
      toLocalTime: (relayMs) => relayMs - this.#clockOffsetMs,
      unseal: (push) => unseal(push, { ...this.#sealedKeys, now, log: this.#options.log }),
      floor: () => this.#sealedKeys.floor(this.#options.config),
    });
  }

  /** The next message to this session finds the text there, and removes it. */
  async #leftBehind(push: Push): Promise<void> {
    const { log } = this.#options;
    const { found: opened } = push.sealed
      ? await unseal(push, { ...this.#sealedKeys, now, log })
      : { found: push };
    if ("state" in opened || opened.body === undefined || opened.agentSessionName === undefined) return;
    const resolved = await this.#targets.resolve(opened.agentSessionName);
    if ("target" in resolved) this.#inputs.of(resolved.target).leftBehind = { before: "", text: opened.body };
  }

  /** A moment after something was typed: the input itself comes first. */
  #readSoon(): void {
    this.#inventory.readSoon();
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#polls.wake();
    }, POLL_SOON_MS);
  }

  async #ended(push: Push, { outcome, elapsedMs }: { outcome: Outcome; elapsedMs: number }): Promise<void> {
    const reason = outcome.reason ? ` ${outcome.reason}` : "";
    const session = outcome.agentSessionName ?? push.agentSessionName ?? "-";
    const what = push.type === "agent.start" ? "start" : "inject";
    this.#options.log(`${what} ${push.id} ${session} ${outcome.state}${reason} ${Math.round(elapsedMs)} ms`);
    this.#audit.record(await auditEntry(push, outcome, now()));
  }
}

/** Resolves when `done` does, or after `ms`. */
async function orAfter(done: Promise<void>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([done, promise]);
  clearTimeout(timer);
}

/** Finds tmux servers behind trusted sockets only, and gives their clients a minimal environment. */
function bindTargets({ env, log }: Pick<ListenerOptions, "env" | "log">): Targets {
  const { uid, files, platform } = runtime;
  return new Targets({
    uid,
    files,
    platform,
    env: { get: (name: string): string | undefined => env[name] },
    commands: withEnvironment(runtime.commands, tmuxEnvironment(env)),
    now: () => Date.now(),
    distrusted: distrustLog(log),
  });
}
