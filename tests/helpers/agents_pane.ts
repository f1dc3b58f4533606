/** A program in a real tmux pane, which a test reads and types into like a local user. */
import type { Screen } from "../../src/agents/profile.ts";
import type { Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

/** Longer than an agent takes between two redraws of its input. */
const QUIET_MS = 400;

export interface PaneOptions {
  session: string;
  /** The program's argv; it runs as the pane's own process. */
  argv: string[];
  env?: Record<string, string>;
  columns?: number;
  rows?: number;
}

export class Pane {
  readonly session: string;
  /** Pane id, `%n`. */
  readonly id: string;
  /** The program's pid. */
  readonly pid: number;
  #sandbox: Sandbox;

  private constructor(sandbox: Sandbox, facts: { session: string; id: string; pid: number }) {
    this.#sandbox = sandbox;
    ({ session: this.session, id: this.id, pid: this.pid } = facts);
  }

  /** Starts the program in a new session, in the sandbox's project; resolves once it is executed. */
  static async open(sandbox: Sandbox, options: PaneOptions): Promise<Pane> {
    const { session, argv, env = {}, columns = 100, rows = 30 } = options;
    const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    const size = ["-x", String(columns), "-y", String(rows)];
    const where = ["-c", sandbox.project, "-s", session];
    const printed = await sandbox.tmux(
      ...["-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{pane_id} #{pane_pid}"],
      ...[...size, ...where, ...variables, "--", ...argv],
    );
    const [id = "", pid] = printed.trim().split(" ");
    await sandbox.executed(session);
    return new Pane(sandbox, { session, id, pid: Number(pid) });
  }

  /** Returns the only pane of an existing session. */
  static async of(sandbox: Sandbox, session: string): Promise<Pane> {
    const printed = await sandbox.tmux(
      "display-message",
      "-p",
      "-t",
      `=${session}:`,
      "#{pane_id} #{pane_pid}",
    );
    const [id = "", pid] = printed.trim().split(" ");
    return new Pane(sandbox, { session, id, pid: Number(pid) });
  }

  async show(format: string): Promise<string> {
    return (await this.#sandbox.tmux("display-message", "-p", "-t", this.id, format)).replace(/\n$/, "");
  }

  async screen(): Promise<Screen> {
    const format = "#{cursor_x} #{cursor_y} #{cursor_flag} #{keypad_flag}#{keypad_cursor_flag} #{pane_title}";
    // One request, because cursor and lines of two different moments would make a screen that never existed.
    const facts = ["display-message", "-p", "-t", this.id, format];
    const printed = await this.#sandbox.tmux(...facts, ";", "capture-pane", "-p", "-t", this.id);
    const [first = "", ...rows] = printed.replace(/\n$/, "").split("\n");
    const [x, y, flag, keypad, ...title] = first.split(" ");
    const lines = rows.map((line) => line.trimEnd());
    const cursor = { x: Number(x), y: Number(y), visible: flag === "1" };
    return { lines, title: title.join(" "), cursor, ...(keypad === "00" ? {} : { applicationKeys: true }) };
  }

  /** Pastes the text, bracketed if the program asked for that, without pressing Enter. */
  async paste(text: string): Promise<void> {
    const file = `${this.#sandbox.root}/paste-${crypto.randomUUID()}`;
    await Deno.writeTextFile(file, text);
    await this.#sandbox.tmux("load-buffer", "-b", "pasted", file);
    await this.#sandbox.tmux("paste-buffer", "-p", "-r", "-d", "-b", "pasted", "-t", this.id);
    await Deno.remove(file);
  }

  /** Types the text as keys. */
  async type(text: string): Promise<void> {
    const escaped = text.endsWith(";") ? `${text.slice(0, -1)}\\;` : text;
    await this.#sandbox.tmux("send-keys", "-l", "-t", this.id, "--", escaped);
  }

  /** Presses keys by tmux's names for them. */
  async press(...names: string[]): Promise<void> {
    await this.#sandbox.tmux("send-keys", "-t", this.id, ...names);
  }

  /** Resolves once the screen stays the same for a moment. */
  async quiet(): Promise<void> {
    let last = { text: "", since: 0 };
    await until("a quiet screen", async () => {
      const text = JSON.stringify(await this.screen());
      if (text !== last.text) last = { text, since: performance.now() };
      return performance.now() > last.since + QUIET_MS;
    });
  }

  async resize(columns: number, rows: number): Promise<void> {
    const size = ["-x", String(columns), "-y", String(rows)];
    await this.#sandbox.tmux("resize-window", "-t", this.id, ...size);
  }
}
