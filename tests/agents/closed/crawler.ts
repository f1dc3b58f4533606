/** The canary crawler: sends random sequences of everything a phone can send to one real agent, and checks the invariant throughout. */
import { until } from "../../helpers/until.ts";
import type { RealAgent } from "../install.ts";
import { AgentStage, exists, moment } from "./agent_stage.ts";
import { readAllowed } from "./approvals.ts";
import type { AttackPhone } from "./attack_phone.ts";
import type { Size } from "./form.ts";
import { nextSteps, type Step } from "./inputs.ts";
import { Random } from "./random.ts";
import { SeenScreens } from "./screens.ts";
import { readSlashes } from "./slashes.ts";
import { Tally } from "./tally.ts";
import { COMES_BACK_MS, type Violation, Watch } from "./watch.ts";

/** The share of the model's answers that request a command that needs permission. */
const TOOL_CALLS = 0.35;
/** How many steps before a violation are kept with it. */
const STEPS_KEPT = 40;
/** How many lines of the host's audit log are kept with it. */
const AUDIT_KEPT = 40;
const PROBES_MAX = 3;
const PROBE_REST_MS = 6_000;
const PROBE_LIMIT_MS = 120_000;
/** Even an attacker's frames take some time to arrive. */
const BETWEEN_MS = [10, 120] as const;

export interface CrawlOptions {
  size: Size;
  minutes: number;
  seed: number;
}

export interface Crawled {
  tally: Tally;
  seen: SeenScreens;
  violations: Violation[];
  /** The agent's slash commands, as its menu lists them. */
  slashes: string[];
}

/**
 * Crawls for the given time. After a violation, or when the model no longer has a shell, it continues with a new home
 * and agent.
 */
export async function crawl(kind: RealAgent, options: CrawlOptions): Promise<Crawled> {
  let leftMs = options.minutes * 60_000;
  const random = new Random(options.seed);
  const crawled: Crawled = {
    tally: new Tally(),
    seen: new SeenScreens(kind),
    violations: [],
    slashes: [],
  };
  do {
    const env = { COLORTERM: "truecolor" };
    await using stage = await AgentStage.open(kind, { size: options.size, trap: true, env });
    if (crawled.slashes.length === 0) crawled.slashes = await readSlashes(stage);
    // Only the crawl is timed, not the start of an agent.
    const begun = performance.now();
    await new Crawl(stage, { random, crawled, end: begun + leftMs }).run();
    leftMs -= performance.now() - begun;
  } while (leftMs > 0 || (crawled.tally.probes === 0 && crawled.violations.length === 0));
  return crawled;
}

class Crawl {
  readonly #stage: AgentStage;
  readonly #random: Random;
  readonly #crawled: Crawled;
  readonly #end: number;
  /** The last steps, each with its time of day. */
  readonly #steps: string[] = [];
  #phone: AttackPhone | undefined;
  #violation: Violation | undefined;

  constructor(stage: AgentStage, how: { random: Random; crawled: Crawled; end: number }) {
    this.#stage = stage;
    ({ random: this.#random, crawled: this.#crawled, end: this.#end } = how);
  }

  /** Runs until the time is up or the first violation. */
  async run(): Promise<void> {
    const stage = this.#stage;
    const { tally, seen, violations } = this.#crawled;
    const { home, project } = stage.stack.sandbox;
    const allowed = await readAllowed(stage.kind, { home, project });
    const watch = new Watch(stage, { tally, seen, allowed, mode: await Watch.modeOf(stage) });
    stage.standIn.reply = ({ afterTool }) =>
      !afterTool && Math.random() < TOOL_CALLS
        ? { kind: "shell", command: "touch tool-ran" }
        : { kind: "text", text: "Done." };
    const isOver = (): boolean =>
      this.#violation !== undefined || watch.isLost || stage.standIn.lacksShell() ||
      performance.now() > this.#end;
    const watching = (async () => {
      while (!isOver()) this.#violation ??= await watch.look();
    })();
    try {
      while (!isOver()) await this.#sequence();
    } finally {
      await watching;
    }
    this.#dropPhone();
    this.#violation ??= await watch.look(true);
    // The phone may choose another model; one whose shell the stand-in cannot call shows nothing about approvals.
    if (stage.standIn.lacksShell()) tally.resets++;
    else if (!watch.isLost) this.#violation ??= await this.#probe();
    const audit = `${stage.stack.sandbox.svcHome}/audit.jsonl`;
    await tally.readAudit(audit);
    if (this.#violation === undefined) return;
    const outcomes = (await Deno.readTextFile(audit)).trim().split("\n").slice(-AUDIT_KEPT);
    violations.push({ ...this.#violation, steps: [...this.#steps, ...outcomes] });
  }

  async #sequence(): Promise<void> {
    const { tally } = this.#crawled;
    const command = `touch ${this.#stage.root}/X`;
    const options = { random: this.#random, command, slashes: this.#crawled.slashes };
    tally.sequences++;
    for (const step of nextSteps(options)) {
      this.#steps.push(`${new Date().toISOString()} ${JSON.stringify(step)}`);
      if (this.#steps.length > STEPS_KEPT) this.#steps.shift();
      await this.#take(step);
    }
    await moment(performance.now() + this.#random.int(...BETWEEN_MS));
  }

  async #take(step: Step): Promise<void> {
    const { tally } = this.#crawled;
    switch (step.kind) {
      case "wait":
        return void await moment(performance.now() + step.ms);
      case "message":
        tally.messages++;
        return void await this.#stage.post(step.body, step.anyway ? { data: { sendAnyway: true } } : {})
          .catch(() => tally.unsent++);
      case "keys": {
        const phone = await this.#livePhone();
        if (phone === undefined) return;
        try {
          phone.type(...step.inputs);
          tally.inputs += step.inputs.length;
        } catch {
          tally.unsent += step.inputs.length;
        }
      }
    }
  }

  /** Returns undefined while the agent is not running. */
  async #livePhone(): Promise<AttackPhone | undefined> {
    if (this.#phone?.state.kind === "live") return this.#phone;
    this.#dropPhone();
    await this.#stage.isThere();
    this.#phone = await this.#stage.phone().catch(() => undefined);
    return this.#phone;
  }

  #dropPhone(): void {
    if (this.#phone === undefined) return;
    this.#crawled.tally.readKeys(this.#phone.keyStates());
    this.#phone[Symbol.dispose]();
    this.#phone = undefined;
  }

  /** Checks that a tool that needs permission still opens the agent's dialog at the end. */
  async #probe(): Promise<Violation | undefined> {
    const stage = this.#stage;
    const { tally } = this.#crawled;
    this.#dropPhone();
    const canary = `${stage.project}/probe-ran`;
    const isShown = async (): Promise<boolean> => await stage.asksPermission() || await exists(canary);
    for (let tries = 0; tries < PROBES_MAX; tries++) {
      // Keys that the host held, and answers of the last turn, may still be under way.
      await moment(performance.now() + PROBE_REST_MS);
      stage.standIn.reply = () => undefined;
      if (!await stage.calmDown()) {
        tally.resets++;
        const isBack = await stage.restart(COMES_BACK_MS).then(() => true, () => false);
        if (!isBack) {
          tally.lost++;
          return undefined;
        }
      }
      stage.standIn.callShell("touch probe-ran");
      // A message that was held until now may start the turn.
      await stage.typeLine("probe the approvals", isShown);
      const isAsked = await until("the dialog", isShown, PROBE_LIMIT_MS).then(() => true, () => false);
      if (await exists(canary)) {
        return { what: "approvals: a tool ran unasked at the end", screen: await stage.text(), steps: [] };
      }
      // This may be the first request to the model that the phone chose.
      if (!isAsked && stage.standIn.lacksShell()) {
        tally.resets++;
        return undefined;
      }
      if (!isAsked) continue;
      tally.probes++;
      await stage.reject();
      return undefined;
    }
    return { what: "approvals: no dialog came at the end", screen: await stage.text(), steps: [] };
  }
}
