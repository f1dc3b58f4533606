/** Sets the clock of a process through libfaketime. */

/** Debian's package libfaketime. */
const LIBRARIES = ["x86_64", "aarch64"].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`);
/** A clock for processes, set by a test. */
export interface FakeTime {
  env: Record<string, string>;
  set(offsetSeconds: number): Promise<void>;
}

/** Returns undefined if the library is missing; the caller then prints `SKIPPED`. */
export async function fakeTime(path: string): Promise<FakeTime | undefined> {
  const library = LIBRARIES.find((one) => exists(one));
  if (library === undefined) return undefined;
  const set = async (seconds: number): Promise<void> =>
    await Deno.writeTextFile(path, `${seconds < 0 ? "" : "+"}${seconds}s\n`);
  await set(0);
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: path,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  return { env, set };
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

export const SKIPPED = "skipped: no library sets a process's clock: install Debian's package libfaketime";
