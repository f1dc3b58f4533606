/** The injection: the steps of the spec (section 4), each made safe, in order. */
import { look, untilClear } from "./hold.ts";
import type { Attempt, Command, InjectHost } from "./inject_host.ts";
import { type Outcome, refused } from "./outcome.ts";
import { submit } from "./submit.ts";
import { typeText } from "./type_text.ts";
import { isShellEscape } from "./typing.ts";

/**
 * Types one message into its pane and proves it. `refused` means that nothing was typed; text is never typed twice.
 * Throws Stopping when the daemon stops before anything was typed.
 */
export async function inject(command: Command, host: InjectHost): Promise<Outcome> {
  const resolved = await host.resolve(command.session);
  if ("refused" in resolved) return refused(resolved.refused);
  const { target } = resolved;
  const outcome = await injectInto({ command, target, server: host.server(target), host });
  return { ...outcome, pane: target.pane };
}

async function injectInto(attempt: Attempt): Promise<Outcome> {
  const { command, host } = attempt;
  const first = await look(attempt);
  if ("outcome" in first) return first.outcome;
  if (await host.isMuted(first.seen.directory)) return refused("muted");
  const waitSeconds = host.takeToken(command.session);
  if (waitSeconds > 0) return refused("rate_limited", waitSeconds);
  if (isShellEscape(command.body) && !host.policy.allowShellEscape) return refused("shell_escape");

  for (let seen = first.seen;;) {
    const clear = await untilClear(attempt, seen);
    if ("outcome" in clear) return clear.outcome;
    const [marker] = await Promise.all([
      host.writeMarker(clear.seen.directory, command.body),
      host.record(command.id, "typing"),
    ]);
    const typing = await typeText(attempt, clear.seen);
    if (typing.kind === "typed") return await submit(attempt, { marker, untouched: clear.seen });
    await marker.withdraw();
    if (typing.kind === "failed") return typing.outcome;
    const again = await look(attempt);
    if ("outcome" in again) return again.outcome;
    seen = again.seen;
  }
}
