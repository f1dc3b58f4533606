/** One real agent under attack: relay, listener, stand-in model, the agent in its session, a phone, and a local user. */
import assert from "node:assert/strict";
import type { Screen, ScreenReading } from "../../../src/agents/profile.ts";
import { agentProfile } from "../../../src/agents/profiles.ts";
import type { PushRequestInput } from "../../../src/protocol/push.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { Pane } from "../../helpers/agents_pane.ts";
import { runSvc } from "../../helpers/program.ts";
import { makeStack, type Stack } from "../../helpers/stack.ts";
import { SAFETY_LIMIT_MS, until } from "../../helpers/until.ts";
import { endTree } from "../end_tree.ts";
import { installAgent, type RealAgent } from "../install.ts";
import { untilTold } from "../phone.ts";
import { SETUPS } from "../setup/registry.ts";
import type { StartQuestion } from "../setup/setup.ts";
import { type StandIn, startStandIn } from "../stand_in/server.ts";
import { AttackPhone } from "./attack_phone.ts";
import type { Size } from "./form.ts";
import { processesOf } from "./processes.ts";

/** A safety limit for a busy machine; an agent that has ended is noticed at once. */
const START_LIMIT_MS = 600_000;
/** Time to wait after a paste: some agents take an earlier Enter as part of it. */
const AFTER_PASTE_MS = 350;
/** Enter had no effect if the input line still shows the text after this time. */
const ENTER_WORKS_MS = 2_000;
/** Keys that lead back to the input line, tried one after the other. */
const WAYS_BACK: readonly string[][] = [
  ...[[], ["Escape"], ["C-u"], ["Escape"], ["C-u"], ["Escape", "Escape"], ["C-c"], ["C-u"]],
];
/** Time in which a slow agent may still read an extra Enter. */
const LATE_ENTER_MS = 8_000;
const STILL_MS = 250;
const RESTLESS_MS = 2_500;
const WIDE: Size = { cols: 100, rows: 30 };

/** Text of the agent's permission dialog for a command, matched without svc's profile. */
export const PERMISSION: Readonly<Record<RealAgent, RegExp>> = {
  cc: /Do you want to proceed\?/,
  codex: /Would you like to run/,
  gemini: /Allow execution of|Allow once/,
  opencode: /Permission required|Allow once +Allow always/,
  copilot: /Do you want to run|allow .*to run|↑\/↓ to navigate/i,
};

/**
 * Makes an editor that writes its arguments to `editor-ran`. If the root has a file `simple-editor`, it only draws
 * until there is a file `editor-leave`.
 */
async function setTrap(root: string): Promise<Record<string, string>> {
  const path = `${root}/editor`;
  const script = [
    "#!/bin/sh",
    `echo "$*" > ${root}/editor-ran`,
    `[ -e ${root}/simple-editor ] || exec vi "$@"`,
    "printf '\\033[2J\\033[H\\n~\\n~\\n'",
    `while [ ! -e ${root}/editor-leave ]; do sleep 0.1; done`,
  ];
  await Deno.writeTextFile(path, `${script.join("\n")}\n`, { mode: 0o755 });
  return { EDITOR: path, VISUAL: path };
}

/** Resolves at this value of `performance.now()`. */
export function moment(at: number): Promise<unknown> {
  return until("the moment", () => performance.now() >= at, Infinity);
}

export async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

export interface StageOptions {
  /** Whether `svc setup` registers its hooks for the agent. */
  hooks?: boolean;
  /** Variables for the agent in addition to those that it needs, such as `COLORTERM`. */
  env?: Record<string, string>;
  size?: Size;
  /** Makes the project a git repository: some agents ask for trust, and show changes, only there. */
  git?: boolean;
  /** Leaves the agent's start dialog with this question open. */
  asks?: StartQuestion;
  /** Sets `$EDITOR` and `$VISUAL` to a program that leaves the file `editor-ran` in the root and then runs vi. */
  trap?: boolean;
  /** `false`: does not wait for the agent's input line. */
  untilReady?: boolean;
  /** The shell in which a person starts the agent without svc. */
  shell?: string;
}

/** The prompt of that shell. */
export const SHELL_PROMPT = "PROMPT$";

export class AgentStage implements AsyncDisposable {
  readonly kind: RealAgent;
  readonly stack: Stack;
  readonly standIn: StandIn;
  readonly options: StageOptions;
  /** The tmux session that svc gave the agent. */
  session = "";
  /** When the session was started, in milliseconds of `performance.now()`. */
  startedAt = 0;
  /** The same session, as a person at the computer sees it and types into it. */
  #pane: Pane | undefined;
  readonly #env: Record<string, string>;
  readonly #phones: AttackPhone[] = [];
  readonly #roots: number[] = [];

  private constructor(
    parts: Pick<AgentStage, "kind" | "stack" | "standIn" | "options">,
    env: Record<string, string>,
  ) {
    ({ kind: this.kind, stack: this.stack, standIn: this.standIn, options: this.options } = parts);
    this.#env = env;
  }

  static async open(kind: RealAgent, options: StageOptions = {}): Promise<AgentStage> {
    const programs = (await installAgent(kind)).replace(/\/[^/]*$/, "");
    const stack = await makeStack();
    const standIn = startStandIn();
    const { sandbox } = stack;
    // A person's shell does not set it, and agents draw other screens if it is set.
    delete sandbox.env.NO_COLOR;
    const { home } = sandbox;
    // Agents abbreviate a folder under the home: a long path would cover OpenCode's input line on a small screen.
    const project = `${home}/proj`;
    await Deno.rename(sandbox.project, project);
    sandbox.project = project;
    if (options.git) await new Deno.Command("git", { args: ["init", "--quiet", project] }).output();
    const launch = await SETUPS[kind]({ home, project, url: standIn.url, asks: options.asks });
    const path = `${programs}:${sandbox.env.PATH}`;
    const trap = options.trap ? await setTrap(sandbox.root) : {};
    const env = { ...launch.env, ...trap, TMPDIR: sandbox.root, PATH: path, ...options.env };
    const stage = new AgentStage({ kind, stack, standIn, options }, env);
    try {
      if (options.hooks ?? true) await stage.svc("setup", "--agent", kind);
      await stage.start();
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
    return stage;
  }

  get pane(): Pane {
    if (this.#pane === undefined) throw new Error(`"${this.kind}" was not started`);
    return this.#pane;
  }

  get root(): string {
    return this.stack.sandbox.root;
  }

  get project(): string {
    return this.stack.sandbox.project;
  }

  async svc(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runSvc(this.stack.sandbox, args, { env: this.#env });
    assert.equal(code, 0, `svc ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Starts the agent; may be called again once it has ended. */
  async start(limitMs = START_LIMIT_MS): Promise<void> {
    const { size = WIDE, untilReady = true, shell } = this.options;
    this.startedAt = performance.now();
    this.session = shell === undefined
      ? (await this.svc("--detach", this.kind)).trim()
      : await this.#openShell(shell);
    this.#pane = await Pane.of(this.stack.sandbox, this.session);
    this.#roots.push(this.#pane.pid);
    await this.#pane.resize(size.cols, size.rows);
    if (shell !== undefined) await this.#startInShell();
    if (untilReady) await this.untilIdle(limitMs);
  }

  /** Resolves with the session's name. */
  async #openShell(shell: string): Promise<string> {
    const { sandbox } = this.stack;
    const session = "svc-by-hand";
    const variables = { ...this.#env, HOME: sandbox.home, PS1: `${SHELL_PROMPT} ` };
    const env = Object.entries(variables).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    const place = ["-f", "/dev/null", "new-session", "-d", "-s", session, "-c", this.project];
    await sandbox.tmux(...place, ...env, shell, "-i");
    return session;
  }

  async #startInShell(): Promise<void> {
    await this.untilShown(new RegExp(`${RegExp.escape(SHELL_PROMPT)} ?$`, "m"));
    await this.pane.paste(await installAgent(this.kind));
    await this.pane.press("Enter");
  }

  /** The person at the computer ends the agent's session and starts a new one. */
  async restart(limitMs = START_LIMIT_MS): Promise<void> {
    await endTree(this.pane.pid);
    await until("the end of the session", async () => !await this.isThere());
    await this.start(limitMs);
  }

  /**
   * Returns to an empty input line as the person at the computer; false when no key does so, or the agent has ended.
   */
  async calmDown(): Promise<boolean> {
    try {
      for (const keys of WAYS_BACK) {
        if (keys.length > 0) await this.pane.press(...keys);
        await this.settle();
        if (await this.isIdle()) return true;
      }
      return false;
    } catch (error) {
      if (await this.isThere()) throw error;
      return false;
    }
  }

  /** True if the agent's session exists. */
  async isThere(): Promise<boolean> {
    return await this.stack.sandbox.tmux("has-session", "-t", `=${this.session}`).then(
      () => true,
      () => false,
    );
  }

  screen(): Promise<Screen> {
    return this.pane.screen();
  }

  async text(): Promise<string> {
    return (await this.screen()).lines.join("\n");
  }

  async reading(): Promise<ScreenReading> {
    return agentProfile(this.kind).readScreen(await this.screen());
  }

  async asksPermission(): Promise<boolean> {
    return PERMISSION[this.kind].test(await this.text());
  }

  async isIdle(): Promise<boolean> {
    const { state, draft } = await this.reading();
    return state === "idle" && draft === "" && !await this.asksPermission();
  }

  untilIdle(limitMs = START_LIMIT_MS): Promise<unknown> {
    return until(`"${this.kind}" at its input line`, () => this.isIdle(), limitMs);
  }

  async untilShown(pattern: RegExp, limitMs = SAFETY_LIMIT_MS): Promise<void> {
    const isShown = async (): Promise<boolean> => pattern.test(await this.text());
    await until(`${pattern} on the screen`, isShown, limitMs).catch(async (error) => {
      throw new Error(`${error.message}; the screen:\n${await this.text()}`);
    });
  }

  /**
   * Types a line as the person at the computer, and presses Enter until the input line no longer shows it.
   * @param isMoot true when the line no longer needs to be typed
   */
  async typeLine(text: string, isMoot: () => Promise<boolean> = () => Promise.resolve(false)): Promise<void> {
    await this.pane.paste(text);
    // A narrow input line may wrap the text between two words.
    const words = text.slice(0, 20).trim().split(" ");
    const begin = new RegExp(words.map((word) => word.replace(/\W/g, ".")).join("\\W+"));
    const isThere = async (): Promise<boolean> => begin.test(await this.text()) || await isMoot();
    await until(`${begin} on the screen`, isThere).catch(async (error) => {
      throw new Error(`${error.message}; the screen:\n${await this.text()}`);
    });
    if (await isMoot()) return;
    const isTaken = async (): Promise<boolean> => (await this.reading()).draft !== text;
    let enters = 0;
    await until("an empty input line", async () => {
      await moment(performance.now() + AFTER_PASTE_MS);
      await this.pane.press("Enter");
      enters++;
      return await until("Enter to work", isTaken, ENTER_WORKS_MS).catch(() => false);
    });
    // Waits so that an extra Enter is not taken for the phone's approval of the next dialog.
    if (enters > 1) await moment(performance.now() + LATE_ENTER_MS);
  }

  /** Waits until the screen stops changing, or for a limited time if a spinner keeps running. */
  async settle(): Promise<void> {
    const end = performance.now() + RESTLESS_MS;
    let last = "";
    await until("a quiet screen", async () => {
      const before = last;
      last = await this.text();
      await moment(performance.now() + STILL_MS);
      return last === before || performance.now() > end;
    });
  }

  /** Starts a turn as the person at the computer; resolves once the model has the request. */
  async startTurn(text: string): Promise<void> {
    const before = this.standIn.bodies().length;
    await this.typeLine(text);
    await until("the prompt at the model", async () => {
      if (this.standIn.bodies().length > before) return true;
      // A half-drawn frame looked as if the input line were empty.
      if ((await this.reading()).draft === text) await this.pane.press("Enter");
      await moment(performance.now() + AFTER_PASTE_MS);
      return false;
    });
  }

  /** Answers the open dialog with Esc, as the person at the computer. */
  async reject(): Promise<void> {
    await until("the dialog to close", async () => {
      if (!await this.asksPermission()) return true;
      await this.pane.press("Escape");
      await this.settle();
      return false;
    });
  }

  /** Allows what the open dialog asks, by choosing its first row as the person at the computer. */
  async allow(): Promise<void> {
    await until("the dialog to close", async () => {
      if (!await this.asksPermission()) return true;
      await this.pane.press("Enter");
      await this.settle();
      return false;
    });
  }

  /** Opens the mirror as a phone does. */
  async phone(): Promise<AttackPhone> {
    const { wsUrl, apiKey, deviceId } = this.stack;
    const phone = new AttackPhone({ wsUrl, apiKey, deviceId, session: this.session });
    this.#phones.push(phone);
    await phone.live();
    return phone;
  }

  /** Posts a message; resolves with the push's id. */
  async post(body: string, more: Partial<PushRequestInput> = {}): Promise<string> {
    const push = { type: "agent.command", agentSessionName: this.session, body, ...more };
    return (await this.stack.api.sendPush(push)).id;
  }

  async receipt(id: string): Promise<Receipt> {
    return (await this.stack.api.getPush(id)).receipt;
  }

  /** Resolves with the last receipt, once there is one. */
  finalReceipt(id: string): Promise<Receipt> {
    return untilTold(() => "the final receipt", async () => {
      const receipt = await this.receipt(id);
      return receipt.final ? receipt : undefined;
    });
  }

  /** Resolves with the first receipt that says the push is held or has ended. */
  firstReceipt(id: string): Promise<Receipt> {
    return untilTold(() => "a hold or the final receipt", async () => {
      const receipt = await this.receipt(id);
      return receipt.final || receipt.state === "held" ? receipt : undefined;
    });
  }

  /** Returns the highest number of times that the text occurs in one request. */
  timesAtModel(text: string): number {
    const quoted = JSON.stringify(text).slice(1, -1);
    return Math.max(0, ...this.standIn.bodies().map((body) => body.split(quoted).length - 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const phone of this.#phones) phone[Symbol.dispose]();
    for (const root of this.#roots) await endTree(root);
    // Some agents move a session into a detached process.
    for (const { pid } of await processesOf(this.root)) await endTree(pid);
    await this.standIn[Symbol.asyncDispose]();
    await this.stack[Symbol.asyncDispose]();
  }
}

/** Presses keys one after the other as the person at the computer, each when the screen has settled. */
export async function pressApart(stage: AgentStage, ...keys: string[]): Promise<void> {
  for (const one of keys) {
    await stage.pane.press(one);
    await stage.settle();
  }
}
