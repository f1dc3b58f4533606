/** Busy loops beside a test run, like a build on the same machine. */

export function startBusy(count: number): AsyncDisposable {
  const loops = Array.from(
    { length: count },
    () => new Deno.Command("sh", { args: ["-c", "while :; do :; done"] }).spawn(),
  );
  return {
    async [Symbol.asyncDispose]() {
      for (const loop of loops) loop.kill("SIGKILL");
      await Promise.all(loops.map((loop) => loop.status));
    },
  };
}
