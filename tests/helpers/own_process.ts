/** Runs part of a test in a separate process, so that its connections and memory are not the test's. */

export interface OwnProcess<T> extends AsyncDisposable {
  /** The first line that it prints, as JSON; whatever it has opened stays open until it is disposed of. */
  result: Promise<T>;
}

/** Runs a module with these arguments; it ends when its stdin is closed. */
export function runOwnProcess<T>(module: string, args: readonly string[]): OwnProcess<T> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", module, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const stdin = child.stdin.getWriter();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const result = lines.read().then(({ value = "{}" }): T => JSON.parse(value));
  return {
    result,
    async [Symbol.asyncDispose](): Promise<void> {
      await stdin.close().catch(() => undefined);
      await lines.cancel();
      await child.status;
    },
  };
}
