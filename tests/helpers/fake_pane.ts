/** An agent's pane, behind tmux's command line, with screen, clock and answers set by a test. */
import type { GateProfile, ScreenReading } from "../../src/agents/profile.ts";
import type {
  Command,
  EarlierTyping,
  InjectContext,
  Outcome,
  TypingEffects,
} from "../../src/listener/inject/context.ts";
import { GUARD_REFUSED } from "../../src/listener/inject/guard.ts";
import { inject } from "../../src/listener/inject/inject.ts";
import type { PaneInput } from "../../src/listener/inject/pane_input.ts";
import { PaneInputs } from "../../src/listener/inject/pane_inputs.ts";
import { type Policy, policyOf } from "../../src/listener/inject/policy.ts";
import type { Keystroke } from "../../src/listener/keystrokes/keystroke_rules.ts";
import {
  type KeystrokeOutcome,
  type KeystrokeWait,
  typeKeystroke,
} from "../../src/listener/keystrokes/type_keystroke.ts";
import type { Target } from "../../src/listener/targets.ts";
import type { TmuxCommand } from "../../src/tmux/argv.ts";
import { TmuxError, type TmuxServer } from "../../src/tmux/server.ts";
import { FakeClock } from "./fake_clock.ts";

/** What phones may do if config.json allows nothing further. */
export const DEFAULT_POLICY: Policy = policyOf({});

const PID = 7;

/** What tmux searches the screen for. */
export const DIALOG_LINE = "no such line";

export class FakePane {
  readonly clock = new FakeClock();
  readonly inputs = new PaneInputs(this.clock);
  /** Texts, keys, markers, journal steps and reports, in the order in which they happened. */
  readonly events: string[] = [];
  reading: ScreenReading = { state: "idle", focus: "composer", draft: "" };
  /** Whether a process of the pane is running or runnable; undefined if the system does not report it. */
  isBusy: boolean | undefined = false;
  /**
   * The agent's reaction to a key; initially Enter submits and Ctrl-U empties the composer. If it returns `false`, tmux
   * does not press the key.
   */
  onKey: (key: string) => unknown = (key) => {
    if (["Enter", "C-u"].includes(key)) this.draw("");
  };
  /** Called once the text is in the composer. */
  onText: () => void = () => {};
  /** Called before a paste buffer is filled, which waits for it. */
  onFill: (() => Promise<void>) | undefined;
  /** The error of each check of the pane. */
  failure: TmuxError | undefined;
  /** Called before each pause; its time passes afterwards. */
  onPause: (ms: number) => void = () => {};
  /** Called for each step before it is written to the journal. */
  onRecord: (step: string, earlier?: EarlierTyping) => void = () => {};
  /** Epoch seconds of the last key in an attached terminal; undefined without one. */
  localUserActivity: number | undefined;
  /** Aborted when the listener stops. */
  readonly stopping = new AbortController();
  /** The lines above the composer. */
  transcript: string[] = [];
  /** Whether a hook has taken the marker. */
  isTaken = false;
  /** Called before a marker is withdrawn. */
  onWithdraw: () => void = () => {};
  /** The error of writing a marker. */
  markerFailure: Error | undefined;
  /** Whether the project is muted. */
  isMuted = false;
  /** The foreground program and its argv; whether a shell gets the terminal back when it ends. */
  program = { foreground: "agent", argv: ["agent"], hasAgent: false, shellBelow: false };
  policy: Policy = DEFAULT_POLICY;
  /** The pane's own process. */
  pid = PID;
  /** How often tmux searched the screen for a dialog. */
  searches = 0;
  readonly target: Target;
  readonly #buffers = new Map<string, string>();

  /** `recordedPid`: the pid that the wrapper recorded; 0 in a session without a wrapper. */
  constructor(
    { gate, recordedPid = PID, isProfiled = true }: {
      gate?: GateProfile;
      recordedPid?: number;
      isProfiled?: boolean;
    } = {},
  ) {
    const profile: Target["profile"] = {
      typing: { method: "paste", settleMs: 0, spaceAfter: "none" },
      dialog: { lines: [DIALOG_LINE], titles: [] },
      menus: {},
      keys: { alsoAllowed: [], forbidden: [] },
      commands: [],
      foldedPaste: /^\[Pasted text #\d+\]$/,
      ...(gate && { gate }),
      readScreen: () => ({ ...this.reading }),
    };
    this.target = {
      socket: "/tmux.sock",
      session: "svc-p",
      sessionId: "$1",
      pane: "%3",
      panePid: PID,
      recordedPid,
      run: `1790000000 %3 ${recordedPid}`,
      directory: "/p",
      root: "/p",
      profile,
      isProfiled,
      spawnOnly: false,
    };
  }

  /** The names of tmux's paste buffers. */
  get buffers(): string[] {
    return [...this.#buffers.keys()];
  }

  get input(): PaneInput {
    return this.inputs.of(this.target);
  }

  /** Makes the agent one whose hooks hold its dialogs back. */
  gated(): this {
    this.inputs.hook({ event: "SessionStart", agent: "cc", cwd: "/p", session: "svc-p", gates: true });
    return this;
  }

  /** Shows this draft in the composer; if it is undefined, an unknown screen. */
  draw(draft: string | undefined, change: Partial<ScreenReading> = {}): void {
    this.reading = { state: "idle", focus: draft === undefined ? "unknown" : "composer", draft, ...change };
  }

  async inject(body: string, command: Partial<Command> = {}): Promise<Outcome> {
    const expiresAt = this.clock.now() + 3_600_000;
    const all = {
      id: "1",
      session: "svc-p",
      body,
      expiresAt,
      sendAnyway: false,
      turn: { step: "waiting" as const },
      ...command,
    };
    return await inject(all, this.injection());
  }

  injection(): InjectContext {
    return {
      ...this.#context(),
      rateLimit: { take: () => 0 },
      signal: this.stopping.signal,
      record: (_id, step, earlier) =>
        new Promise((resolve) => {
          this.onRecord(step, earlier);
          resolve(void this.events.push(step));
        }),
      report: (_id, { state, reason }) =>
        void this.events.push(["reported", state, reason ?? ""].join(" ").trim()),
    };
  }

  async press(
    input: Keystroke,
    { mayType = () => true, dialogMs }: Partial<KeystrokeWait> = {},
  ): Promise<KeystrokeOutcome> {
    const server = { socket: this.target.socket, run: this.#run };
    const context = { ...this.#context(), target: this.target, server, input: this.input, mayType, dialogMs };
    return await typeKeystroke(context, input);
  }

  #context(): Omit<InjectContext, "rateLimit" | "signal" | "record" | "report"> {
    const server: TmuxServer = { socket: this.target.socket, run: this.#run };
    return {
      targets: {
        resolve: () => Promise.resolve({ kind: "found", target: this.target }),
        known: () => undefined,
        follow: () => Promise.resolve({ kind: "found", target: this.target }),
        server: () => server,
      },
      inputs: this.inputs,
      policy: this.policy,
      effects: this.#effects(),
      now: () => this.clock.now(),
      elapsed: () => this.clock.elapsed(),
      typed: () => void this.events.push("activity"),
      pause: (ms) => {
        this.onPause(ms);
        this.clock.advance(ms);
        return Promise.resolve();
      },
    };
  }

  #effects(): TypingEffects {
    return {
      processFacts: () => Promise.resolve({ stopped: false, ...this.program }),
      isBusy: () => Promise.resolve(this.isBusy),
      isMuted: () => Promise.resolve(this.isMuted),
      writeMarker: () => {
        if (this.markerFailure !== undefined) return Promise.reject(this.markerFailure);
        this.events.push("marker written");
        let isWithdrawn = false;
        const isGone = (): boolean => this.isTaken || isWithdrawn;
        return Promise.resolve({
          withdraw: () => {
            this.onWithdraw();
            this.events.push("marker withdrawn");
            const wasThere = !isGone();
            isWithdrawn = true;
            return Promise.resolve(wasThere);
          },
          taken: () => Promise.resolve(isGone()),
        });
      },
    };
  }

  /** Runs commands; an error that is thrown becomes a rejection. */
  readonly #run = (...commands: TmuxCommand[]): Promise<string> =>
    new Promise((resolve) => {
      if (commands.some(([verb, ...words]) => verb === "display-message" && words.join().includes("C/r:"))) {
        this.searches++;
      }
      const filling = commands[0]?.[0] === "set-buffer" ? this.onFill?.() : undefined;
      resolve(filling === undefined ? this.#answer(commands) : filling.then(() => this.#answer(commands)));
    });

  #answer([[verb = "", ...words] = []]: TmuxCommand[]): string {
    if (verb === "display-message") {
      if (this.failure !== undefined) throw this.failure;
      return this.#facts();
    }
    if (verb === "set-buffer") {
      this.#buffers.set(words[2] ?? "", words.at(-1) ?? "");
      return "";
    }
    if (verb === "delete-buffer") {
      if (!this.#buffers.delete(words[1] ?? "")) throw new TmuxError("unknown buffer");
      return "";
    }
    const then = words[4] ?? "";
    const pasted = /paste-buffer .*-b (\S+)/.exec(then)?.[1];
    const text = pasted === undefined
      ? /send-keys -l .* -- (\S+)(?: ;|$)/.exec(then)?.[1]
      : this.#buffers.get(pasted);
    if (pasted !== undefined) this.#buffers.delete(pasted);
    if (text !== undefined) {
      this.events.push(`text ${text}`);
      this.draw((this.reading.draft ?? "") + text);
      this.onText();
      return "";
    }
    const key = /send-keys -t \S+ (\S+)(?: ;|$)/.exec(then)?.[1];
    if (key === undefined) throw new TmuxError(`unexpected command: ${verb} ${words.join(" ")}`);
    this.events.push(`key ${key}`);
    return this.onKey(key) === false ? GUARD_REFUSED : "";
  }

  #facts(): string {
    const created = Math.floor(this.clock.now() / 1_000) - 600;
    const facts = ["@2", created, 0, 0, 0, this.pid, "agent", 0, 0, 1, 0, 0, "title", "/p"];
    const { localUserActivity: at } = this;
    const clients = at === undefined ? [] : [["client", 0, at, "$1", "@2"].join("\t")];
    const screen = [...this.transcript, this.reading.draft ?? "another screen"];
    return [["facts", ...facts].join("\t"), "row\t0", ...clients, ...screen].join("\n");
  }
}
