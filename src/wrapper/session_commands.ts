/** The commands that make a session: the agent as its pane's process, and what the listener needs to know of it. */
import { exactPane, type TmuxCommand, verbs } from "../tmux/argv.ts";
import { SESSION_OPTIONS } from "../tmux/sessions.ts";
import { CLAIM_OPTION } from "./claim.ts";
import { saveLastWords } from "./last_words.ts";
import { paneArgv, type PaneEnvironment } from "./pane_environment.ts";
import type { Project } from "./project.ts";
import { ROOT_OPTION } from "./tmux_calls.ts";

export interface SessionPlan {
  name: string;
  kind: string;
  project: Project;
  cwd: string;
  version: string;
  /** The agent's argv. */
  agent: readonly string[];
  environment: PaneEnvironment;
  size: { columns: number; rows: number };
  /** Of the wrapper that attaches; undefined for a session that stays detached. */
  attaching: { claim: string; lastWords: string } | undefined;
}

/** What the user has configured globally must not keep a session alive after its agent, or end it without a client. */
const SESSION_RULES = { "destroy-unattached": "off", "detach-on-destroy": "on" };

export function sessionCommands(plan: SessionPlan): TmuxCommand[] {
  const { name, attaching } = plan;
  const pane = exactPane(name);
  const options = {
    ...SESSION_RULES,
    [SESSION_OPTIONS.agent]: plan.kind,
    [SESSION_OPTIONS.project]: plan.project.name,
    [SESSION_OPTIONS.directory]: markerDirectory(plan),
    [SESSION_OPTIONS.version]: plan.version,
    [ROOT_OPTION]: plan.project.root,
    ...(attaching && { [CLAIM_OPTION]: attaching.claim }),
  };
  const words = attaching ? saveLastWords(name, attaching.lastWords) : [];
  return [
    verbs.newSession({
      name,
      directory: plan.cwd,
      size: plan.size,
      env: plan.environment.session,
      argv: paneArgv(plan.environment, plan.agent),
    }),
    ["set-option", "-p", "-t", pane, "remain-on-exit", "off"],
    ...words,
    ...Object.entries(options).map(([option, value]) => verbs.setSessionOption(name, option, value)),
    ["set-option", "-F", "-t", pane, SESSION_OPTIONS.pane, "#{pane_id}"],
    ["set-option", "-F", "-t", pane, SESSION_OPTIONS.pid, "#{pane_pid}"],
  ];
}

/** The key of markers: the agent's hooks name the directory it runs in, or one below the project's. */
function markerDirectory({ project, cwd }: SessionPlan): string {
  return cwd === project.root || cwd.startsWith(`${project.root}/`) ? project.root : cwd;
}
