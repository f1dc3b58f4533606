/** Hooks in a temporary home: what they print, and what they report to the daemon. */
import { runtime } from "#runtime";
import type { HookInput } from "../../src/agents/hooks.ts";
import { loadHooks } from "../../src/agents/registry.ts";
import { ControlRequest, type HookReport } from "../../src/home/control_socket.ts";
import { type MarkedText, writeMarker } from "../../src/home/markers.ts";
import { setMuted } from "../../src/home/muted.ts";
import { eventHook, type HookHost, promptHook } from "../../src/hooks/run_hook.ts";
import type { AgentKind } from "../../src/protocol/names.ts";
import type { LineConnection } from "../../src/runtime/types.ts";
import { makeTempHome, type TempHome } from "./temp_home.ts";

export interface HookBench extends AsyncDisposable {
  home: TempHome;
  host: HookHost;
  /** A directory that exists. */
  project: string;
  /** Reports that the daemon received, in order. */
  reports: HookReport[];
  /** Reports that waited at the gate, in order. */
  gated: HookReport[];
  /** Keeps the gate closed until the returned function is called. */
  holdGate(): () => void;
  /** Writes a marker, as the listener does when it types a message. */
  mark(text: string, more?: Partial<MarkedText>): Promise<void>;
  mute(muted: boolean): Promise<void>;
  /** Runs the prompt hook; resolves with its output. */
  submit(prompt: string, more?: Partial<Submission>): Promise<string>;
  /** Runs another hook; resolves with its output. */
  call(kind: AgentKind, event: string, input: HookInput): Promise<string>;
}

export interface Submission {
  kind: AgentKind;
  cwd: string;
  conversation: string;
}

export const BENCH_NOW = 1_795_000_000_000;

export async function makeHookBench(): Promise<HookBench> {
  const home = await makeTempHome();
  const project = `${home.directory}/proj`;
  await Deno.mkdir(project);
  const reports: HookReport[] = [];
  let markedAt = BENCH_NOW - 1_000;
  const gated: HookReport[] = [];
  let gate = Promise.resolve();
  const control = await runtime.sockets.listen(
    home.paths.socket,
    (connection) => void listen(connection, { reports, gated, gate: () => gate }),
  );
  const { paths, files } = home;
  const host: HookHost = {
    files,
    paths,
    sockets: runtime.sockets,
    now: () => BENCH_NOW,
    session: "svc-proj",
    pane: "%7",
    tmuxSocket: "/tmp/tmux-1000/default",
    gates: true,
    print: () => {},
  };
  const call: HookBench["call"] = async (kind, event, input) => {
    const hooks = await loadHooks(kind);
    if (hooks === undefined) throw new Error(`no hooks of "${kind}"`);
    const hook = event === hooks.promptEvent ? promptHook : eventHook;
    const printed: string[] = [];
    await hook({ ...host, print: (text) => void printed.push(text) })({ kind, hooks, event, input });
    return printed.join("\n");
  };
  return {
    home,
    host,
    project,
    reports,
    gated,
    holdGate() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    call,
    mark: async (text, more = {}) => {
      const marked = { dir: project, text, now: markedAt++, ...more };
      await writeMarker({ files, markers: paths.markers }, marked);
    },
    mute: async (muted) =>
      void await setMuted(files, paths, { directory: await Deno.realPath(project), muted }),
    submit: async (prompt, { kind = "codex", cwd = project, conversation = "c-1" } = {}) =>
      await call(kind, (await loadHooks(kind))?.promptEvent ?? "", {
        session_id: conversation,
        sessionId: conversation,
        cwd,
        prompt,
      }),
    async [Symbol.asyncDispose]() {
      control.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

interface Daemon {
  reports: HookReport[];
  gated: HookReport[];
  gate(): Promise<void>;
}

async function listen(connection: LineConnection, { reports, gated, gate }: Daemon): Promise<void> {
  for await (const line of connection.lines) {
    const request = ControlRequest.parse(JSON.parse(line));
    if (request.op === "hook") reports.push(request.report);
    if (request.op === "gate") {
      gated.push(request.report);
      await gate();
    }
    await connection.send('{"ok":true}').catch(() => {});
  }
}
