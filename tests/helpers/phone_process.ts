/** A mirror's phone in a separate process, which a test can suspend as a system suspends a page; it compares its screen on request. */
import { beginStream } from "../../src/crypto/stream.ts";
import { compare } from "./cells.ts";
import { MirrorPhone } from "./mirror_phone.ts";
import { isEqual, type MirrorStage } from "./mirror_stage.ts";
import { until } from "./until.ts";

export interface PhoneProcess {
  /** Suspends it, whatever it is doing (SIGSTOP). */
  stop(): void;
  /** Resumes it (SIGCONT). */
  goOn(): void;
  /** Resolves with "" if its terminal equals tmux's pane, cell by cell; otherwise with the differences as JSON. */
  difference(): Promise<string>;
}

interface PhoneOptions {
  wsUrl: string;
  apiKey: string;
  deviceId: string;
  session: string;
  tmuxSocket: string;
}

/** Starts a phone that watches the session, sealed; resolves when the mirror is live. */
export async function startPhoneProcess({ stack }: MirrorStage, session: string): Promise<PhoneProcess> {
  const { sandbox, wsUrl, apiKey, deviceId } = stack;
  const options: PhoneOptions = { wsUrl, apiKey, deviceId, session, tmuxSocket: sandbox.tmuxSocket };
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", import.meta.url, JSON.stringify(options)],
    env: sandbox.env,
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  sandbox.killAtEnd(child.pid);
  const asking = child.stdin.getWriter();
  const answers = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  sandbox.awaitAtEnd(child.status.then(() => Promise.allSettled([asking.close(), answers.cancel()])));
  const answer = async (): Promise<string> => (await answers.read()).value?.trim() ?? "the phone has ended";
  const difference = async (): Promise<string> => {
    await asking.write(new TextEncoder().encode("?\n"));
    return await answer();
  };
  if (await answer() !== "live") throw new Error(`the phone of ${session} is not live`);
  return {
    stop: () => Deno.kill(child.pid, "SIGSTOP"),
    goOn: () => Deno.kill(child.pid, "SIGCONT"),
    difference,
  };
}

async function main({ tmuxSocket, ...options }: PhoneOptions): Promise<void> {
  const say = (line: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  const tmux = async (...args: string[]): Promise<string> => {
    const { stdout } = await new Deno.Command("tmux", { args: ["-S", tmuxSocket, ...args] }).output();
    return new TextDecoder().decode(stdout);
  };
  const parties = { phone: "", listener: options.deviceId, agentSessionName: options.session };
  using phone = new MirrorPhone({ ...options, handshake: () => beginStream(parties) });
  await until("the mirror", () => phone.state.kind === "live");
  say("live");
  for await (const _question of Deno.stdin.readable) {
    const found = await compare(phone.terminal, tmux, `=${options.session}:`);
    const few = Object.entries(found).map(([name, all]) => [name, all.length, all.slice(0, 2)]);
    say(isEqual(found) ? "" : JSON.stringify(few));
  }
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? ""));
