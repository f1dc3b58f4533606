/** Runs the echo agent, which scripts and tests drive over a control socket. */
import { sha256Hex, utf8Length } from "../async/encodings.ts";
import { errorText } from "../async/error_text.ts";
import { Mutex } from "../async/mutex.ts";
import { askDaemon, type HookReport } from "../home/control_socket.ts";
import { takeMarker } from "../home/markers.ts";
import type { HomePaths } from "../home/paths.ts";
import type { AppendFile, Files, LineConnection, LocalSockets, Runtime } from "../runtime/types.ts";
import { type EchoEvent, type EchoState, type Effect, IDLE, type Key, KeyReader, step } from "./state.ts";
import { banner, displayable, EchoScreen, type Footer, footer, receiptLines } from "./screen.ts";
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";

/** Terminals send an escape sequence in one go: an Escape with nothing after it for this long is the Esc key. */
const ESCAPE_WAIT_MS = 30;

interface EchoProgramOptions {
  runtime: Pick<Runtime, "cwd" | "files" | "terminal">;
  paths: Pick<HomePaths, "markers">;
  version: string;
  transcript: Transcript;
  reporter: Reporter;
}

type WithoutTime<Entry> = Entry extends unknown ? Omit<Entry, "at"> : never;

export class EchoProgram {
  readonly #options: EchoProgramOptions;
  readonly #directory: string;
  readonly #screen: EchoScreen;
  readonly #keys = new KeyReader();
  #state: EchoState = IDLE;
  /** Asynchronous effects, run one after the other. */
  readonly #pending = new Mutex();
  #workTimer: ReturnType<typeof setTimeout> | undefined;
  #escapeTimer: ReturnType<typeof setTimeout> | undefined;
  #exit = Promise.withResolvers<void>();

  constructor(options: EchoProgramOptions) {
    this.#options = options;
    this.#directory = options.runtime.cwd();
    this.#screen = new EchoScreen(options.runtime.terminal);
  }

  /** Runs until the user quits, the input ends, or `quit` is called. */
  async run(): Promise<void> {
    const keys = this.#options.runtime.terminal.rawInput()[Symbol.asyncIterator]();
    // The first read puts the terminal into raw mode: from here on nothing is echoed or line-buffered.
    const reading = this.#readAll(keys);
    this.#screen.open(`echo · ${displayable(this.#directory).split("/").pop()}`);
    this.#draw(banner(this.#options.version, this.#directory));
    this.#options.reporter.report("SessionStart");
    await Promise.race([reading, this.#exit.promise]);
    clearTimeout(this.#workTimer);
    clearTimeout(this.#escapeTimer);
    await this.#pending.idle();
    this.#screen.close();
    await keys.return?.();
  }

  quit(): void {
    this.#exit.resolve();
  }

  /** The terminal was resized. */
  resized(): void {
    this.#screen.redraw(this.#footer());
  }

  /** Draws the new state before it returns; asynchronous effects follow later. */
  dispatch(event: EchoEvent): void {
    const { state, effects } = step(this.#state, event);
    this.#state = state;
    this.#draw([]);
    for (const effect of effects) this.#carryOut(effect);
  }

  /** Like `dispatch`, but waits before a dialog the way an agent's hook does. */
  async dispatchGated(event: EchoEvent): Promise<void> {
    if (event.kind === "permit") await this.#options.reporter.gate();
    this.dispatch(event);
  }

  async #readAll(keys: AsyncIterator<Uint8Array>): Promise<void> {
    for (;;) {
      const { value, done } = await keys.next();
      if (done) return;
      this.#dispatchAll(this.#keys.push(value));
      clearTimeout(this.#escapeTimer);
      if (!this.#keys.isWaiting) continue;
      this.#escapeTimer = setTimeout(() => this.#dispatchAll(this.#keys.flush()), ESCAPE_WAIT_MS);
    }
  }

  #dispatchAll(keys: readonly Key[]): void {
    for (const key of keys) this.dispatch(key);
  }

  #draw(lines: readonly string[]): void {
    this.#screen.draw(lines, this.#footer());
  }

  #footer(): Footer {
    return footer(this.#state, this.#options.runtime.terminal.size().columns);
  }

  #carryOut(effect: Effect): void {
    const { report } = this.#options.reporter;
    switch (effect.kind) {
      case "work":
        clearTimeout(this.#workTimer);
        this.#workTimer = setTimeout(() => this.dispatch({ kind: "worked" }), effect.seconds * 1_000);
        return report("UserPromptSubmit");
      case "stopWork":
        clearTimeout(this.#workTimer);
        report("Stop");
        return this.#note(effect.interrupted ? "interrupted" : "done");
      case "note":
        return this.#note(effect.text);
      case "submit":
        return this.#enqueue(() => this.#submit(effect.prompt));
      case "command":
        return this.#record({ command: effect.command });
      case "dialogOpened":
        return report("PermissionRequest");
      case "dialogAnswered":
        this.#note(effect.approved ? "allowed" : "not allowed");
        this.#record({ approved: effect.approved, by: effect.by });
        return report(this.#state.isWorking ? "PostToolUse" : "Stop");
      case "dialogInput":
        return this.#record({ dialogInput: effect.text });
      case "quit":
        return this.quit();
    }
  }

  /** Takes the injection's marker first and then shows the prompt, as an agent with a prompt hook does. */
  async #submit(prompt: string): Promise<void> {
    const { runtime, paths, reporter } = this.#options;
    const marked = { dir: this.#directory, text: prompt, now: Date.now() };
    const fromPhone = await takeMarker({ files: runtime.files, markers: paths.markers }, marked);
    const bytes = utf8Length(prompt);
    const receipt = { prompt, bytes, sha256: await sha256Hex(prompt), fromPhone };
    await this.#append(receipt);
    this.#draw(receiptLines(receipt));
    reporter.report("UserPromptSubmit");
    if (!this.#state.isWorking) reporter.report("Stop");
  }

  #record(fact: WithoutTime<TranscriptEntry>): void {
    this.#enqueue(() => this.#append(fact));
  }

  #append(fact: WithoutTime<TranscriptEntry>): Promise<void> {
    return this.#options.transcript.append({ at: Date.now(), ...fact });
  }

  #note(text: string): void {
    this.#draw([`· ${text}`, ""]);
  }

  /** Runs tasks in order. A failure is shown and does not stop the ones after it. */
  #enqueue(task: () => Promise<void>): void {
    void this.#pending.run(() => task().catch((error: unknown) => this.#note(errorText(error))));
  }
}

/** How long to wait for the daemon to answer a report. */
const REPORT_TIMEOUT_MS = 150;
/** Reports beyond this many are dropped: the screen shows the same state. */
export const REPORTS_MAX = 20;
/** How long a dialog waits for input in flight, as an agent's hook does. */
const GATE_TIMEOUT_MS = 5_000;

interface ReportOptions {
  sockets: Pick<LocalSockets, "connect">;
  /** The listener's control socket. */
  path: string;
  /** Included in every report. */
  where: Pick<HookReport, "agent" | "cwd" | "session" | "pane" | "socket">;
}

/** Reports to the listener what an agent's hooks would: in order, bounded, and without blocking the agent. */
export interface Reporter {
  report(event: string): void;
  /** Call this before a dialog opens: resolves once no input is in flight, or if no listener answers. */
  gate(): Promise<void>;
}

export function makeReporter({ sockets, path, where }: ReportOptions): Reporter {
  const queue = new Mutex();
  const send = async (event: string): Promise<void> => {
    const request = { op: "hook" as const, report: { ...where, event, ...EVENT_FIELDS[event], gates: true } };
    await askDaemon({ sockets, path }, request, { timeoutMs: REPORT_TIMEOUT_MS });
  };
  const report = (event: string): void => {
    if (queue.size < REPORTS_MAX) void queue.run(() => send(event)).catch(() => {});
  };
  const gate = async (): Promise<void> => {
    const tool = { step: "before" as const };
    const request = { op: "gate" as const, report: { ...where, event: "PreToolUse", tool, gates: true } };
    await askDaemon({ sockets, path }, request, { timeoutMs: GATE_TIMEOUT_MS }).catch(() => undefined);
  };
  return { report, gate };
}

/** Fields reported with each event. */
const EVENT_FIELDS: Readonly<Record<string, Partial<HookReport>>> = {
  SessionStart: { state: "idle" },
  UserPromptSubmit: { state: "working" },
  PermissionRequest: { state: "waiting" },
  PostToolUse: { tool: { step: "after" } },
  Stop: { state: "idle" },
};

/** One JSON object per line; each gets an answer. */
export const EchoControl = z.discriminatedUnion("op", [
  z.object({ op: z.literal("permit") }),
  z.object({ op: z.literal("work"), seconds: z.number().check(z.positive()) }),
  /** Denies the open dialog, like Esc. */
  z.object({ op: z.literal("deny") }),
]);
export type EchoControl = z.infer<typeof EchoControl>;

/** Each answer is sent once the event has been drawn. */
export async function openControl(
  sockets: Pick<LocalSockets, "listen">,
  control: { path: string; dispatch: (event: EchoEvent) => Promise<void> },
): Promise<{ close(): void }> {
  return await sockets.listen(control.path, (connection) => void serve(connection, control.dispatch));
}

async function serve(
  connection: LineConnection,
  dispatch: (event: EchoEvent) => Promise<void>,
): Promise<void> {
  for await (const line of connection.lines) {
    const request = EchoControl.safeParse(parseJson(line)?.value);
    if (request.success) await dispatch(eventOf(request.data));
    await connection.send(JSON.stringify({ ok: request.success })).catch(() => connection.close());
  }
}

function eventOf(request: EchoControl): EchoEvent {
  switch (request.op) {
    case "permit":
      return { kind: "permit" };
    case "work":
      return { kind: "work", seconds: request.seconds };
    case "deny":
      return { kind: "escape" };
  }
}

/** One line of the transcript. `at` is in epoch milliseconds. */
export const TranscriptEntry = z.union([
  z.object({
    at: z.number(),
    prompt: z.string(),
    bytes: z.number(),
    /** Hex, over the prompt's UTF-8. */
    sha256: z.string(),
    /** An injection's marker matched it. */
    fromPhone: z.boolean(),
  }),
  z.object({ at: z.number(), command: z.string() }),
  z.object({ at: z.number(), approved: z.boolean(), by: z.enum(["enter", "escape", "digit"]) }),
  /** Text typed or pasted into an open dialog. */
  z.object({ at: z.number(), dialogInput: z.string() }),
]);
export type TranscriptEntry = z.infer<typeof TranscriptEntry>;

/** The file in which scripts and tests read back, byte for byte, what the echo agent received. */
export interface Transcript {
  append(entry: TranscriptEntry): Promise<void>;
  close(): void;
}

/** Opens the transcript. Without a path, nothing is written. */
export async function openTranscript(files: Files, path: string | undefined): Promise<Transcript> {
  const file: AppendFile | undefined = path ? await files.openAppend(path, { mode: 0o600 }) : undefined;
  return {
    append: async (entry) => await file?.append(`${JSON.stringify(entry)}\n`),
    close: () => file?.close(),
  };
}
