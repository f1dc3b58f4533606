/** The program's first step: runs a hook before anything else is loaded, because an agent waits for it; and refuses a runtime that is too old. */
import { runtime } from "#runtime-lean";
import { loadHooks } from "../agents/registry.ts";
import { isAgentKind } from "../protocol/names.ts";

/** The number of arguments each hook requires; one more is optional. Any other call, such as `--help`, goes to main.ts. */
const HOOKS = { "remote-hook": 1, hook: 2 } as const;

/** Resolves with the exit code. */
export async function start(args: readonly string[]): Promise<number> {
  const [word = "", ...rest] = args;
  if (isHook(word) && isHookCall(rest, HOOKS[word])) {
    const kind = rest[HOOKS[word] - 1] ?? "";
    // Loaded in parallel with the hook, which needs it.
    if (isAgentKind(kind)) loadHooks(kind).catch(() => {});
    const { runEventHook, runPromptHook } = await import("./hook.ts");
    return word === "hook" ? await runEventHook(rest) : await runPromptHook(rest);
  }
  // Before anything that an older version lacks is loaded. A hook needs none of that, and must not disturb its agent.
  if (runtime.problem !== undefined) {
    runtime.terminal.writeError(`${runtime.problem}\n`);
    return 1;
  }
  const { main } = await import("./main.ts");
  return await main(args);
}

function isHook(word: string): word is keyof typeof HOOKS {
  return Object.hasOwn(HOOKS, word);
}

function isHookCall(args: readonly string[], required: number): boolean {
  const extra = args.length - required;
  return (extra === 0 || extra === 1) && !args.some((arg) => arg.startsWith("-"));
}
