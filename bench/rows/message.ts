/** POST sent → text read by the program in the pane, beside a shell script with three tmux calls. */
import { askDaemon } from "../../src/home/control_socket.ts";
import { runtime } from "../../src/runtime/deno.ts";
import { makeStack, type Stack } from "../../tests/helpers/stack.ts";
import type { Row, Sample } from "../measure.ts";
import { type Recorder, startRecorder } from "../recorder.ts";

/** The rate limit is 30 per minute and session, so the sessions take turns. */
const SESSIONS = 5;

const SCRIPT = `tmux -S "$1" display-message -p -t "$2" '#{pane_current_command}' > /dev/null
tmux -S "$1" send-keys -l -t "$2" "$3"
tmux -S "$1" send-keys -t "$2" Enter
`;

/** Reports like hooks that gate dialogs, so that the listener need not wait for the end of the agent's turn. */
async function reportHooks({ sandbox }: Stack, session: string): Promise<void> {
  const report = { event: "SessionStart", agent: "echo", cwd: sandbox.project, session, gates: true };
  const path = `${sandbox.svcHome}/listener.sock`;
  await askDaemon({ sockets: runtime.sockets, path }, { op: "hook", report }, { timeoutMs: 5_000 });
}

export const messageRow: Row = {
  name: "message: POST sent → text read by the program",
  beside: "sh script with three tmux calls",
  aim: "median < 1.0, p99 < 1.5",
  samples: SESSIONS * 25,
  async open() {
    const stack = await makeStack();
    const { sandbox } = stack;
    const recorders: Recorder[] = [];
    for (let index = 0; index < SESSIONS; index++) {
      recorders.push(await startRecorder(sandbox, `svc-bench-${index}`));
    }
    for (const { session } of recorders) await reportHooks(stack, session);
    let count = 0;
    const next = (): { recorder: Recorder; body: string } => {
      const recorder = recorders[count % SESSIONS];
      if (recorder === undefined) throw new Error("no recorder");
      return { recorder, body: `message number ${++count} of the bench.` };
    };
    const ours: Sample = async () => {
      const { recorder, body } = next();
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
  },
};
