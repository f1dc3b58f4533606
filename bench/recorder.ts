/** A tmux session that shows the echo agent's composer, whose settle time is 0; its program passes every byte to the bench at once. */
import type { Sandbox } from "../tests/helpers/sandbox.ts";
import { until } from "../tests/helpers/until.ts";

export interface Recorder {
  session: string;
  /** Resolves with the time (`performance.now()`) at which all of `text` was read. */
  seen(text: string): Promise<number>;
  close(): Promise<void>;
}

/** Draws its input after the echo agent's prompt; Enter starts a new draft. */
const PROGRAM = String.raw`
  system "stty raw -echo"; $| = 1; my $draft = "";
  open my $pipe, ">", $ARGV[0] or die; select((select($pipe), $| = 1)[0]);
  sub draw { print "\e[H\e[2J❯ $draft\r\necho · idle\e[1;", 3 + length $draft, "H" }
  draw();
  while (sysread STDIN, my $bytes, 65536) {
    print $pipe $bytes;
    $draft = $bytes =~ /\r$/ ? "" : $draft . $bytes;
    draw();
  }
`;

export async function startRecorder(sandbox: Sandbox, session: string): Promise<Recorder> {
  const pipe = `${sandbox.root}/${session}.pipe`;
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  const opening = Deno.open(pipe, { read: true });
  const argv = ["perl", "-e", PROGRAM, pipe];
  await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-s", session, "--", ...argv);
  const file = await opening;
  const screen = (): Promise<string> => sandbox.tmux("capture-pane", "-p", "-t", `=${session}:`);
  await until("the recorder", async () => (await screen()).includes("echo · idle"));
  await sandbox.tmux("set-option", "-t", `=${session}:`, "@svc_agent", "echo");
  let text = "";
  const waiting = new Set<() => void>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of file.readable) {
      text += decoder.decode(chunk, { stream: true });
      for (const check of [...waiting]) check();
    }
  })();
  return {
    session,
    seen: (wanted) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!text.includes(wanted)) return;
          waiting.delete(check);
          resolve(performance.now());
        };
        waiting.add(check);
        check();
      }),
    async close(): Promise<void> {
      await sandbox.tmux("kill-session", "-t", `=${session}`);
      await reading;
    },
  };
}
