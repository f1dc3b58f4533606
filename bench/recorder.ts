/** A tmux session that stands for the echo agent, whose settle time is 0, and whose program hands every byte that it reads to the bench at once. */
import type { Sandbox } from "../tests/helpers/sandbox.ts";
import { until } from "../tests/helpers/until.ts";

export interface Recorder {
  session: string;
  /** Resolves with the moment (`performance.now()`) at which `text` had been read whole. */
  seen(text: string): Promise<number>;
  close(): Promise<void>;
}

export async function startRecorder(sandbox: Sandbox, session: string): Promise<Recorder> {
  const pipe = `${sandbox.root}/${session}.pipe`;
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  const opening = Deno.open(pipe, { read: true });
  const argv = ["sh", "-c", 'stty raw -echo; exec cat > "$1"', "sh", pipe];
  await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", session, "--", ...argv);
  const file = await opening;
  await until("the recorder", async () => {
    const command = await sandbox.tmux(
      "display-message",
      "-p",
      "-t",
      `=${session}:`,
      "#{pane_current_command}",
    );
    return command.trim() === "cat";
  });
  await sandbox.tmux("set-option", "-t", `=${session}:`, "@svc_agent", "echo");
  let text = "";
  const waiting = new Set<() => void>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of file.readable) {
      text += decoder.decode(chunk, { stream: true });
      for (const look of [...waiting]) look();
    }
  })();
  return {
    session,
    seen: (wanted) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!text.includes(wanted)) return;
          waiting.delete(look);
          resolve(performance.now());
        };
        waiting.add(look);
        look();
      }),
    async close(): Promise<void> {
      await sandbox.tmux("kill-session", "-t", `=${session}`);
      await reading;
    },
  };
}
