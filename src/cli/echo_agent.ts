/** `svc echo-agent`: the built-in agent, which repeats what it is given. The wrapper starts it for `svc echo`. */
import { runtime } from "#runtime";
import { EchoProgram, makeReporter, openControl, openTranscript } from "../echo/program.ts";
import type { EchoEvent } from "../echo/state.ts";
import { ownPane } from "../home/notify_daemon.ts";
import type { HomePaths } from "../home/paths.ts";
import { VERSION } from "../protocol/version.ts";
import { accountPaths } from "./context.ts";
import { UsageError } from "./output.ts";

const HELP = `svc echo [--transcript FILE] [--control SOCKET]

A built-in agent that repeats what it is given, to try everything without installing an agent.

  --transcript FILE   append each prompt to FILE as JSON (or set SVC_ECHO_TRANSCRIPT)
  --control SOCKET    accept {"op":"permit"}, {"op":"deny"} and {"op":"work","seconds":N} on this socket

Example:
  svc echo --transcript /tmp/prompts.jsonl
`;

interface EchoOptions {
  transcript?: string;
  control?: string;
}

export async function run(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    runtime.terminal.write(HELP);
    return 0;
  }
  const options = parseEchoOptions(args);
  if (!runtime.terminal.isInputTerminal()) {
    throw new Error("Cannot run the echo agent: its input is not a terminal. Start it with: svc echo");
  }
  await runHere(options, await accountPaths());
  return 0;
}

/** Parsed by hand, because an option library takes too long to load for an agent. Throws UsageError. */
function parseEchoOptions(args: readonly string[]): EchoOptions {
  const options: EchoOptions = {};
  for (let at = 0; at < args.length; at += 2) {
    const [option = "", value] = args.slice(at);
    if (option !== "--transcript" && option !== "--control") {
      throw new UsageError(`Cannot use "${option}": the options are --transcript FILE and --control SOCKET`);
    }
    if (!value) throw new UsageError(`Cannot use "${option}" without a path`);
    options[option === "--transcript" ? "transcript" : "control"] = value;
  }
  return options;
}

async function runHere(options: EchoOptions, paths: HomePaths): Promise<void> {
  const { files, sockets, env } = runtime;
  const transcript = await openTranscript(files, options.transcript ?? env.get("SVC_ECHO_TRANSCRIPT"));
  const session = env.get("SVC_SESSION");
  const where = {
    agent: "echo",
    cwd: runtime.cwd(),
    ...(session ? { session } : {}),
    ...await ownPane({ env, files }),
  };
  const reporter = makeReporter({ sockets, path: paths.socket, where });
  const program = new EchoProgram({ runtime, paths, transcript, version: VERSION, reporter });
  const closers = [
    runtime.onSignal("SIGWINCH", () => program.resized()),
    runtime.onSignal("SIGTERM", () => program.quit()),
    runtime.onSignal("SIGINT", () => program.quit()),
    () => transcript.close(),
  ];
  try {
    if (options.control) {
      const dispatch = (event: EchoEvent): Promise<void> => program.dispatchGated(event);
      const control = await openControl(sockets, { path: options.control, dispatch });
      closers.push(() => control.close());
    }
    await program.run();
  } finally {
    for (const close of closers) close();
  }
}
