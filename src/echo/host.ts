/** What the echo agent asks of the world, and the binding of it to the runtime and to `~/.svc`. */
import { takeMarker } from "../home/markers.ts";
import type { HomePaths } from "../home/paths.ts";
import { sha256Hex } from "../home/sha256_hex.ts";
import type { Runtime } from "../runtime/types.ts";
import type { Reporter } from "./reports.ts";
import type { Output } from "./screen.ts";
import type { Transcript, TranscriptEntry } from "./transcript.ts";
import type { Receipt } from "./view.ts";

/** A terminal sends a sequence at once: an Escape that stands alone for so long is the key. */
export const ESCAPE_WAIT_MS = 30;

type WithoutTime<Entry> = Entry extends unknown ? Omit<Entry, "at"> : never;

export interface EchoHost {
  version: string;
  directory: string;
  input: AsyncIterable<Uint8Array>;
  output: Output;
  /** Calls `task` once, after so many milliseconds; the result cancels it. */
  after(ms: number, task: () => void): () => void;
  /** What an agent's prompt hook and log would do with a prompt. */
  receive(prompt: string): Promise<Receipt>;
  record(fact: WithoutTime<TranscriptEntry>): Promise<void>;
  /** Reports an event to the listener, as a hook does; nobody waits for it. */
  report(event: string): void;
  /** A dialog is about to open: resolves once no input is in flight. */
  gate(): Promise<void>;
}

export interface EchoPlace {
  runtime: Runtime;
  paths: HomePaths;
  transcript: Transcript;
  version: string;
  reporter: Reporter;
}

export function bindEchoHost({ runtime, paths, transcript, version, reporter }: EchoPlace): EchoHost {
  const directory = runtime.cwd();
  const record: EchoHost["record"] = (fact) => transcript.append({ at: Date.now(), ...fact });
  return {
    version,
    directory,
    input: runtime.terminal.rawInput(),
    output: runtime.terminal,
    after(ms, task) {
      const timer = setTimeout(task, ms);
      return () => clearTimeout(timer);
    },
    async receive(prompt) {
      const marked = { dir: directory, text: prompt, now: Date.now() };
      const fromPhone = await takeMarker({ files: runtime.files, markers: paths.markers }, marked);
      const sha256 = await sha256Hex(prompt);
      const receipt = { prompt, bytes: new TextEncoder().encode(prompt).length, sha256, fromPhone };
      await record(receipt);
      return receipt;
    },
    record,
    ...reporter,
  };
}
