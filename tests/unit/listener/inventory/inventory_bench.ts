/** An inventory with a tmux drawn by a test: one session of the echo agent. */
import assert from "node:assert/strict";
import { IDLE as RESTING } from "../../../../src/echo/state.ts";
import { footer } from "../../../../src/echo/screen.ts";
import type { HookReport } from "../../../../src/home/control_socket.ts";
import { Inventory } from "../../../../src/listener/inventory/inventory.ts";
import type { KnownStates } from "../../../../src/listener/inventory/session_entry.ts";
import type { AgentState } from "../../../../src/protocol/session.ts";
import type { TmuxCommand } from "../../../../src/tmux/argv.ts";
import type { TmuxSession } from "../../../../src/tmux/sessions.ts";

/** Long after the session began, so that its age is irrelevant. */
export const START = 2_000_000_000;

export class Bench {
  now = START;
  /** How far the wall clock is set ahead. */
  aheadMs = 0;
  /** The echo agent's screen. */
  lines: string[] = [];
  activity = START / 1_000 - 100;
  attached = false;
  cols = 80;
  captures = 0;
  /** The muted directory, and the directory that the wrapper recorded. */
  muted = "";
  directory = "/shop";
  isGone = false;
  name = "svc-shop";
  /** Fields of other sessions that differ from this one's. */
  others: Partial<TmuxSession>[] = [];
  readonly logged: string[] = [];
  /** The dialogs that were reported. */
  readonly dialogs: string[] = [];
  /** Called between listing the sessions and capturing their screens. */
  onListed = (): void => {};
  readonly inventory = new Inventory({
    now: () => this.now + this.aheadMs,
    elapsed: () => this.now - START,
    sessions: () => {
      const own = this.#session();
      const sessions = this.isGone ? [] : [own, ...this.others.map((other) => ({ ...own, ...other }))];
      this.onListed();
      return Promise.resolve(sessions);
    },
    server: (socket) => ({ socket, run: (...commands) => Promise.resolve(this.#run(commands)) }),
    dialogOpened: ({ name }) => void this.dialogs.push(`${name} opened`),
    dialogClosed: (pane, at) => void this.dialogs.push(`${pane} closed ${this.now - START - at} ms ago`),
    muted: () => Promise.resolve((...directories) => directories.includes(this.muted)),
    log: (line) => void this.logged.push(line),
    states: { load: () => Promise.resolve({}), save: (states) => this.save(states) },
  });

  save = (_states: KnownStates): Promise<void> => Promise.resolve();

  /** Draws the screen at the current time. */
  draw(...lines: string[]): void {
    this.lines = lines;
    this.activity = Math.floor((this.now + this.aheadMs) / 1_000);
  }

  async state(): Promise<AgentState | undefined> {
    return (await this.inventory.read())[0]?.state;
  }

  report(state: AgentState, more: Partial<HookReport> = {}): void {
    const report = { event: "Stop", agent: "echo", cwd: "/shop", session: "svc-shop", pane: "%1", state };
    this.inventory.take({ ...report, ...more });
  }

  #session(): TmuxSession {
    const shown = { command: "deno", title: "", path: "/shop", cols: this.cols, rows: 24 };
    const pane = { id: "%1", pid: 42, dead: false, ...shown };
    return {
      socket: "/s",
      id: "$1",
      name: this.name,
      created: 1_000,
      activity: this.activity,
      attached: this.attached,
      recorded: {
        agent: "echo",
        project: "shop",
        directory: this.directory,
        root: this.directory,
        claim: "",
        pane: "%1",
        pid: "42",
      },
      pane,
      destroyedWhenUnattached: false,
    };
  }

  #run(commands: TmuxCommand[]): string {
    this.captures++;
    const row = this.lines.findLastIndex((line) => line.startsWith("❯"));
    return commands.map(([name, ...words]) => {
      const [mark = ""] = words.at(-1)?.split("\t") ?? [];
      return name === "display-message" ? [mark, 2, row, 1, 0, 0, ""].join("\t") : this.lines.join("\n");
    }).join("\n");
  }
}

export const IDLE = footer(RESTING, 80).lines;
export const DIALOG = footer({ ...RESTING, dialog: { row: 0 } }, 80).lines;
export const WORKING = footer({ ...RESTING, isWorking: true }, 80).lines;

export async function idleBench(): Promise<Bench> {
  const bench = new Bench();
  bench.draw(...IDLE);
  bench.now += 5_000;
  assert.equal(await bench.state(), "idle");
  return bench;
}
