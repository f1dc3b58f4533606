/** A program that demonstrates one part of the runtime, chosen by its first argument. */

import { runtime } from "#runtime";
import type { AppendFile } from "../../src/runtime/types.ts";
import { until } from "../helpers/until.ts";

const { terminal, commands } = runtime;
const line = (value: unknown): void => terminal.write(`${JSON.stringify(value)}\n`);

/** Prints "ready" once the terminal is raw: the line discipline would handle an earlier key. */
function startReading() {
  const keys = terminal.rawInput()[Symbol.asyncIterator]();
  const first = keys.next();
  line("ready");
  return { first, next: () => keys.next(), leave: () => keys.return?.() };
}

const sides: Record<string, () => Promise<void> | void> = {
  facts: () =>
    line({
      args: runtime.args,
      input: terminal.isInputTerminal(),
      output: terminal.isOutputTerminal(),
      size: terminal.size(),
    }),
  async echo() {
    terminal.write(await terminal.readAll());
    terminal.writeError("on stderr\n");
  },
  async again() {
    const { stdout } = await commands.run([...runtime.selfCommand(), "facts", "--a b"]);
    terminal.write(new TextDecoder().decode(stdout));
  },
  self: () => line(runtime.selfCommand()),
  async keys() {
    const keys = startReading();
    for (let next = await keys.first; !next.done; next = await keys.next()) {
      const text = new TextDecoder().decode(next.value);
      line(text);
      if (text.includes("q")) await keys.leave();
    }
    line("left");
  },
  async exit() {
    await startReading().first;
    runtime.exit(3);
  },
  flood() {
    try {
      for (;;) terminal.write("x".repeat(100_000));
    } catch (error) {
      terminal.writeError(String((error as { code?: string }).code));
    }
  },
  /** Runs a program while no descriptor is free, and once some are free again. */
  async descriptors() {
    const opened: AppendFile[] = [];
    try {
      for (;;) opened.push(await runtime.files.openAppend(runtime.args[1] ?? ""));
    } catch {
      // No descriptor is free.
    }
    const run = await commands.run(["true"]).then(({ code }) => `code ${code}`, () => "refused");
    let pipe = "started";
    try {
      commands.pipe(["true"]).kill();
    } catch {
      pipe = "refused";
    }
    for (const file of opened) file.close();
    await until("descriptors", () => commands.run(["true"]).catch(() => undefined));
    line({ run, pipe });
  },
  async inherit() {
    // Perl, because a shell may lose a signal that arrives just before it waits for its child.
    const script =
      '$SIG{INT} = sub { print "\\nstopped\\n"; exit 9 }; $| = 1; print "asking\\n"; sleep 1 while 1';
    terminal.write(`code ${await commands.runInherited(["perl", "-e", script])}\n`);
  },
};

await sides[runtime.args[0] ?? ""]?.();
