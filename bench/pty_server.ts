/** The alternative to the mirror: a program in a pty whose bytes go over a WebSocket, in a separate process. */
import { type Emulator, makeEmulator } from "../src/phone/terminal_emulator.ts";
import { DrawWaiter } from "../tests/helpers/draw_waiter.ts";
import type { Sandbox } from "../tests/helpers/sandbox.ts";
import { until } from "../tests/helpers/until.ts";
import type { EchoTerminal } from "./echo_sample.ts";

/** Port and process of a server. */
export interface PtyServer {
  port: number;
  close(): Promise<void>;
}

/** A terminal, as a page shows it, that is connected to a server. */
export interface PtyTerminal extends EchoTerminal {
  emulator: Emulator;
  /** Messages received. */
  messages(): number;
  close(): void;
}

/** Serves a command in a pty. `script` makes the pty; its stdin and stdout are the other end. */
async function serve(command: string): Promise<void> {
  const child = new Deno.Command("script", {
    args: ["-qfc", `stty cols 80 rows 24; exec ${command}`, "/dev/null"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const keys = child.stdin.getWriter();
  const sockets = new Set<WebSocket>();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => void Deno.stdout.writeSync(new TextEncoder().encode(`${port} ${child.pid}\n`)),
  }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => sockets.add(socket);
    socket.onmessage = ({ data }) => void keys.write(new Uint8Array(data));
    return response;
  });
  for await (const chunk of child.stdout) {
    for (const socket of sockets) if (socket.readyState === WebSocket.OPEN) socket.send(chunk);
  }
  await server.shutdown();
}

export async function startPtyServer(sandbox: Sandbox, command: string): Promise<PtyServer> {
  const args = ["run", "-A", "--quiet", "--no-check", import.meta.url, command];
  const { env } = sandbox;
  const stdio = { stdout: "piped", stderr: "null" } as const;
  const child = new Deno.Command(Deno.execPath(), { args, env, clearEnv: true, ...stdio }).spawn();
  sandbox.killAtEnd(child.pid);
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const [port = 0, pty = 0] = new TextDecoder().decode(value).split(" ").map(Number);
  sandbox.killAtEnd(pty);
  return {
    port,
    async close(): Promise<void> {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
    },
  };
}

/** Works like ttyd's page: sends keys as the terminal's input, and writes what it receives. */
export async function openPty(port: number): Promise<PtyTerminal> {
  const emulator = makeEmulator({ cols: 80, rows: 24 });
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  socket.binaryType = "arraybuffer";
  await new Promise((resolve) => socket.onopen = resolve);
  const draws = new DrawWaiter();
  let messages = 0;
  emulator.onData((text) => socket.send(new TextEncoder().encode(text)));
  socket.onmessage = ({ data }) => {
    messages += 1;
    emulator.write(new Uint8Array(data), () => draws.drawn());
  };
  const type = (text: string): void => emulator.input(text);
  return {
    emulator,
    type,
    clear: () => type("\u0015"),
    drawnWhen: (holds) => draws.when(holds),
    messages: () => messages,
    close: () => socket.close(),
  };
}

/** Types until the pty echoes, and clears the line: tmux drops keys typed while it attaches. */
export async function untilEchoing({ emulator, type, clear, drawnWhen }: EchoTerminal): Promise<void> {
  const column = (): number => emulator.buffer.active.cursorX;
  await until("the pty", () => {
    type("x");
    return column() > 0;
  });
  const isEmpty = drawnWhen(() => column() === 0);
  clear();
  await isEmpty;
}

if (import.meta.main) await serve(Deno.args[0] ?? "cat");
