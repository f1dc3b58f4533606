/** Carries out pushes: one entry for each type, and the record of how each push ended. */
import type { Config } from "../home/config.ts";
import type { Audit } from "../home/log_files.ts";
import type { HomePaths } from "../home/paths.ts";
import type { AuditEntry } from "../protocol/audit.ts";
import { canonicalDigest } from "../protocol/canonical.ts";
import type { AtOnceType, InTurnType, Push } from "../protocol/push.ts";
import { answerDialog, endAgent, endEffects, startAgent, startEffects } from "./agent_life.ts";
import type { Cards } from "./cards/cards.ts";
import {
  type Command,
  type EarlierTyping,
  injectContext,
  type Injection,
  type Outcome,
  paneContext,
} from "./inject/context.ts";
import { type Askers, EarlyPanes } from "./inject/find_pane.ts";
import { inject } from "./inject/inject.ts";
import { removeEarlier } from "./inject/remove_text.ts";
import { type KnownProjects, muteProject, mutingEffects } from "./projects.ts";
import { type OpenedPush, type OpenOptions, unseal, type UnsealHost } from "./sealing.ts";
import type { Targets } from "./targets.ts";

type Step = (push: Push) => Promise<Outcome>;

/** What is done with a push. Tests replace the steps. */
export interface PushSteps extends Pick<OpenOptions, "unseal" | "prepare">, Pick<EarlyPanes, "expect"> {
  /** The agent whose question a message answers, if this host knows it. */
  askerOf(push: Push): Command["asker"];
  /** `signal`: aborted with Stopping or TakenOver when this listener must not begin to type anything more. */
  inject(command: Command, signal: AbortSignal): Promise<Outcome>;
  inTurn: Readonly<Record<Exclude<InTurnType, "agent.command">, Step>>;
  atOnce: Readonly<Record<Exclude<AtOnceType, "agent.cancel">, Step>>;
  /** Cleans up after a crash that interrupted this push: if it is a message, its text may still be in the composer. */
  leftBehind(push: OpenedPush, earlier: EarlierTyping, signal: AbortSignal): Promise<void>;
  /** Called once for each push that ended. */
  ended(push: Push, outcome: Outcome, elapsedMs: number): Promise<void>;
}

export interface PushStepsOptions {
  paths: HomePaths;
  config: Config;
  env: Readonly<Record<string, string>>;
  injection: Injection;
  targets: Pick<Targets, "sessions" | "anyServer">;
  projects: Pick<KnownProjects, "list">;
  dialogOf: Parameters<typeof answerDialog>[1]["dialogOf"];
  cards: Pick<Cards, "answer" | "refused">;
  askers: Pick<Askers, "of">;
  keys: Omit<UnsealHost, "now" | "log">;
  audit: Pick<Audit, "record">;
  log(line: string): void;
}

export function pushSteps(options: PushStepsOptions): PushSteps {
  const { injection, askers, keys, log } = options;
  const early = new EarlyPanes(injection);
  return {
    unseal: (push) => unseal(push, { ...keys, now: injection.now, log }),
    expect: (push) => early.expect(push),
    prepare: (push) => early.begin(push),
    askerOf: (push) => askers.of(push),
    inject: (command, signal) => inject(command, injectContext(injection, signal), early),
    inTurn: stepsInTurn(options),
    atOnce: stepsAtOnce(options),
    async leftBehind(push, { emptyAt, shown }, signal) {
      if (push.type !== "agent.command" || push.body === undefined) return;
      const resolved = await injection.targets.resolve(push.agentSessionName ?? "");
      if (resolved.kind !== "found") return;
      const context = paneContext(injectContext(injection, signal), resolved.target);
      await removeEarlier(context, { before: "", text: push.body, emptyAt, shown });
    },
    async ended(push, outcome, elapsedMs) {
      if (push.type === "ask.answer" && outcome.state !== "submitted") options.cards.refused(push, outcome);
      await recordEnd(push, outcome, { ...options, now: injection.now(), elapsedMs });
    },
  };
}

/** Steps that wait their turn in the queue of their session. */
function stepsInTurn(
  { paths, config, env, injection: { record }, projects, log }: PushStepsOptions,
): PushSteps["inTurn"] {
  return {
    "agent.start": (push) =>
      startAgent(push, {
        allowed: config.allowAgentStart === true,
        projects: () => projects.list(),
        record,
        log,
        ...startEffects({ paths, env }),
      }),
  };
}

function stepsAtOnce(
  { paths, injection, targets, dialogOf, cards }: PushStepsOptions,
): PushSteps["atOnce"] {
  const { policy, effects: { isMuted }, record, typed } = injection;
  return {
    "agent.end": (push) =>
      endAgent(push, {
        allowed: policy.allowAgentEnd,
        targets,
        isMuted,
        record,
        ended: typed,
        ...endEffects(),
      }),
    "project.mute": (push) => muteProject(push, { targets, changed: typed, ...mutingEffects(paths) }),
    "dialog.answer": (push) => answerDialog(push, { typing: injection, dialogOf }),
    async "ask.answer"(push) {
      // After a crash nothing shows whether the agent took it.
      await record(push.id, "typing");
      return await cards.answer(push);
    },
  };
}

/** Writes a push that has ended to the log and the audit log. */
export async function recordEnd(
  push: Push,
  outcome: Outcome,
  { audit, log, now, elapsedMs }: {
    audit: Pick<Audit, "record">;
    log(line: string): void;
    /** Epoch milliseconds. */
    now: number;
    /** Since it arrived. */
    elapsedMs: number;
  },
): Promise<void> {
  const reason = outcome.reason ? ` ${outcome.reason}` : "";
  const session = outcome.agentSessionName ?? push.agentSessionName ?? "-";
  const action = push.type === "agent.command" ? "inject" : push.type.replace(/^.*\./, "");
  const failure = outcome.failure ? `: ${outcome.failure.trim().replaceAll("\n", " ")}` : "";
  log(`${action} ${push.id} ${session} ${outcome.state}${reason} ${Math.round(elapsedMs)} ms${failure}`);
  audit.record(await auditEntry(push, outcome, now));
}

/** Returns the audit log's entry for a push, which never contains its text. */
export async function auditEntry(push: Push, outcome: Outcome, nowMs: number): Promise<AuditEntry> {
  const body = push.body ?? "";
  const about = outcome.about ?? (push.type === "agent.command" ? undefined : push.type);
  return {
    time: new Date(nowMs).toISOString(),
    device: push.from,
    session: outcome.agentSessionName ?? push.agentSessionName ?? "",
    pane: outcome.pane ?? "",
    digest: await canonicalDigest(body),
    length: body.length,
    outcome: outcome.reason ? `${outcome.state} ${outcome.reason}` : outcome.state,
    ...(about === undefined ? {} : { about }),
  };
}
