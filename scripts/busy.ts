/** Busy loops during a test run, like a build on the same machine. They end with the process that started them, however it ends. */

/**
 * Watches the pid in its argument, not `$PPID`: a shell whose parent ended first would watch the process that adopted
 * it.
 */
const LOOP = 'while kill -0 "$1" 2>/dev/null; do :; done';

export function startBusy(count: number): AsyncDisposable {
  const loops = Array.from(
    { length: count },
    () => new Deno.Command("sh", { args: ["-c", LOOP, "busy", String(Deno.pid)] }).spawn(),
  );
  return {
    async [Symbol.asyncDispose]() {
      for (const loop of loops) loop.kill("SIGKILL");
      await Promise.all(loops.map((loop) => loop.status));
    },
  };
}
