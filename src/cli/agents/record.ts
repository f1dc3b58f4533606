/** Saves what a session shows in the form of the fixtures in `tests/testdata/screens`, its words taken out. */
import { runtime } from "#runtime";
import type { ScreenReading } from "../../agents/profile.ts";
import { agentProfile } from "../../agents/profiles.ts";
import { agentKindOfProgram } from "../../agents/program.ts";
import { type AgentKind, isAgentKind } from "../../protocol/names.ts";
import { verbs } from "../../tmux/argv.ts";
import { TmuxDiscovery } from "../../tmux/discovery.ts";
import type { TmuxPane, TmuxSession } from "../../tmux/sessions.ts";
import { installedVersion } from "../checks/agents/presence.ts";
import { frameWords, redactScreen } from "./redact.ts";
import { parseScreen, SCREEN_FORMAT } from "./screen_format.ts";

export interface Recorded {
  folder: string;
  /** What the profile reads there, in words. */
  found: string;
}

/** Throws Error when there is no such session, or no known agent in it. */
export async function recordScreen(name: string, folder: string | undefined): Promise<Recorded> {
  const { discovery, session, pane } = await findSession(name);
  const kind = await kindOf(session, pane);
  const output = await discovery.server(session.socket).run(
    verbs.print(pane.id, SCREEN_FORMAT),
    verbs.captureScreen(pane.id),
  );
  const profile = agentProfile(kind);
  const shown = parseScreen(output);
  const { lines, ...others } = redactScreen(shown, frameWords(profile));
  const reading = profile.readScreen(shown);
  const meta = { version: await installedVersion(runtime, kind) ?? "", ...others, expect: expected(reading) };
  const out = folder ?? `${runtime.cwd()}/svc-screen-${name.replace(/[^A-Za-z0-9_-]/g, "_")}`;
  await runtime.files.makeDirectory(out);
  await runtime.files.writeText(`${out}/screen.txt`, `${lines.join("\n")}\n`);
  await runtime.files.writeText(`${out}/meta.json`, `${JSON.stringify(meta, null, 2)}\n`);
  return { folder: out, found: `svc reads ${reading.focus}, ${reading.state ?? "no state"}` };
}

/** What the profile reads today, without the draft. The person who reports the bug corrects it. */
function expected({ state, focus, draft, ...others }: ScreenReading): Record<string, unknown> {
  return {
    state: state ?? null,
    focus,
    draft: draft === undefined ? null : redactedDraft(draft),
    ...others,
  };
}

function redactedDraft(draft: string): string {
  return draft.replace(/\p{L}/gu, "x").replace(/\p{N}/gu, "0");
}

interface FoundSession {
  discovery: TmuxDiscovery;
  session: TmuxSession;
  pane: TmuxPane;
}

async function findSession(name: string): Promise<FoundSession> {
  const { uid, env, files, commands } = runtime;
  const discovery = new TmuxDiscovery({ uid, env, files, commands }, {
    now: Date.now,
    openServer: () => undefined,
  });
  const session = (await discovery.sessions({ deep: true })).find((one) => one.name === name);
  if (session?.pane === undefined) {
    throw new Error(`Cannot record "${name}": no such session runs here. See: svc sessions`);
  }
  return { discovery, session, pane: session.pane };
}

async function kindOf({ name, recorded }: TmuxSession, pane: TmuxPane): Promise<AgentKind> {
  if (isAgentKind(recorded.agent)) return recorded.agent;
  const { stdout } = await runtime.commands.run(["ps", "-o", "args=", "-p", String(pane.pid)]);
  const argv = new TextDecoder().decode(stdout).trim().split(" ");
  const kind = agentKindOfProgram(pane.command, argv);
  if (kind === undefined) {
    throw new Error(`Cannot record "${name}": "${pane.command}" is no agent that svc knows`);
  }
  return kind;
}
