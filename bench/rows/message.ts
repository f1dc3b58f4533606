/** POST sent → text read by the program in the pane, compared with a shell script with three tmux calls. */
import { askDaemon } from "../../src/home/control_socket.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { makeStack, type Stack } from "../../tests/helpers/stack.ts";
import { INVENTORY_POLL_MS } from "../../src/protocol/limits.ts";
import type { Row, Sample, Stage } from "../measure.ts";
import { type Recorder, startRecorder } from "../recorder.ts";

/** The rate limit is 30 per minute and session, so the sessions take turns. */
const SESSIONS = 5;

const SCRIPT = `tmux -S "$1" display-message -p -t "$2" '#{pane_current_command}' > /dev/null
tmux -S "$1" send-keys -l -t "$2" "$3"
tmux -S "$1" send-keys -t "$2" Enter
`;

const nameOf = (index: number): string => `svc-bench-${index}`;

/** Reports like hooks that gate dialogs, so that the listener need not wait for the end of the agent's turn. */
async function reportAll({ sandbox }: Stack): Promise<void> {
  const path = `${sandbox.svcHome}/listener.sock`;
  for (let index = 0; index < SESSIONS; index++) {
    const report = {
      event: "SessionStart",
      agent: "echo",
      cwd: sandbox.project,
      session: nameOf(index),
      gates: true,
    };
    await askDaemon({ sockets: runtime.sockets, path }, { op: "hook", report }, { timeoutMs: 5_000 });
  }
}

/** Runs before each of svc's own samples, not before those of the alternative. */
type Before = (stack: Stack) => Promise<void>;

interface MessageRowOptions {
  samples: number;
  aim: string;
  /** Is not measured. Without it the messages follow one another. */
  before?: Before;
}

function messageRow(what: string, { samples, aim, before }: MessageRowOptions): Row {
  return {
    name: `message: POST sent → text read by the program${what}`,
    beside: "sh script with three tmux calls",
    aim,
    samples,
    open: () => openMessages(before ?? (() => Promise.resolve())),
  };
}

async function openMessages(before: Before): Promise<Stage> {
  const stack = await makeStack();
  const { sandbox } = stack;
  const recorders: Recorder[] = [];
  for (let index = 0; index < SESSIONS; index++) {
    recorders.push(await startRecorder(sandbox, nameOf(index)));
  }
  await reportAll(stack);
  let count = 0;
  const next = (): { recorder: Recorder; body: string } => {
    const recorder = recorders[count % SESSIONS];
    if (recorder === undefined) throw new Error("no recorder");
    return { recorder, body: `message number ${++count} of the bench.` };
  };
  const ours: Sample = async () => {
    const { recorder, body } = next();
    await before(stack);
    const begun = performance.now();
    const push = { type: "agent.command", agentSessionName: recorder.session, body };
    const sent = stack.api.sendPush({ ...push, targetDeviceId: stack.deviceId });
    const seen = await recorder.seen(body);
    const { id } = await sent;
    while (!(await stack.api.getPush(id)).receipt.final) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return seen - begun;
  };
  const theirs: Sample = async () => {
    const { recorder, body } = next();
    const begun = performance.now();
    const args = ["-c", SCRIPT, "sh", sandbox.tmuxSocket, `=${recorder.session}:`, body];
    const script = new Deno.Command("sh", { args, env: sandbox.env, clearEnv: true }).output();
    const seen = await recorder.seen(body);
    await script;
    return seen - begun;
  };
  const close = async (): Promise<void> => {
    for (const recorder of recorders) await recorder.close();
    await stack[Symbol.asyncDispose]();
  };
  return { ours, theirs, close };
}

const PAUSE_MS = 120_000;

/**
 * Restarts and waits until the listener has reported its sessions, as a person waits until the phone shows it online.
 */
async function restart(stack: Stack): Promise<void> {
  await stack.restartListener();
  await stack.listener.line(/server persisted/);
  await reportAll(stack);
  await new Promise((resolve) => setTimeout(resolve, 2 * INVENTORY_POLL_MS));
}

export const messageRows: Row[] = [
  messageRow("", { samples: SESSIONS * 20, aim: "median < 1.0, p99 < 1.5" }),
  messageRow(", the first after the listener's start", { samples: 5, aim: "< 1.2", before: restart }),
  messageRow(", after a pause of two minutes", {
    samples: 5,
    aim: "< 1.2",
    before: () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)),
  }),
];
