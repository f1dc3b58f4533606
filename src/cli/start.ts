/** The first step of the program: an agent waits for its hooks, so they are called before anything else is loaded. */

interface Module {
  run(args: readonly string[]): Promise<number>;
}

/**
 * The number of arguments that each needs; one more is optional. Any other call, such as `--help`, takes the ordinary
 * path.
 */
const HOOKS: Readonly<Record<string, { words: number; load(): Promise<Module> }>> = {
  "remote-hook": { words: 1, load: () => import("./remote_hook.ts") },
  hook: { words: 2, load: () => import("./hook.ts") },
};

/** Resolves with the exit code. */
export async function start(args: readonly string[]): Promise<number> {
  const [word = "", ...rest] = args;
  const hook = Object.hasOwn(HOOKS, word) ? HOOKS[word] : undefined;
  const beyond = rest.length - (hook?.words ?? 0);
  const isCalled = (beyond === 0 || beyond === 1) && !rest.some((one) => one.startsWith("-"));
  if (hook !== undefined && isCalled) return await (await hook.load()).run(rest);
  return await (await loadMain()).main(args);
}

const loadMain = (): Promise<typeof import("./main.ts")> => import("./main.ts");
