/** Types one live input into its pane, behind the same guard as a message. */
import type { Reason } from "../protocol/receipt.ts";
import { type TmuxCommand, verbs } from "../tmux/argv.ts";
import { TmuxError } from "../tmux/server.ts";
import { look, type Seen } from "./hold.ts";
import { failureOutcome } from "./inject_failure.ts";
import type { InjectHost, Sight } from "./inject_host.ts";
import { runsShell, type TypedInput } from "./keys_rules.ts";
import { guardOf } from "./type_text.ts";
import { GUARD_REFUSED, guarded, typingRequests } from "./typing.ts";

/** `held`: a dialog is open, and nothing was typed. */
export type KeyOutcome = { state: "typed" } | { state: "held" | "refused"; reason: Reason };

export interface KeySight extends Sight {
  host: Sight["host"] & Pick<InjectHost, "isMuted">;
}

/** One look and one guarded request. `lineBegun` as `isLineBegun` tells. */
export async function typeInput(
  sight: KeySight,
  { input, lineBegun }: { input: TypedInput; lineBegun: boolean },
): Promise<KeyOutcome> {
  const clear = await look(sight);
  if ("outcome" in clear) return { state: "refused", reason: clear.outcome.reason ?? "tmux_failed" };
  const { seen } = clear;
  const { policy } = sight.host;
  if (await sight.host.isMuted(seen.directory)) return { state: "refused", reason: "muted" };
  if (seen.reading.focus === "dialog" && !policy.allowRemoteApproval) {
    return { state: "held", reason: "dialog_open" };
  }
  if (!policy.allowShellEscape && runsShell(input, { draft: seen.reading.draft, lineBegun })) {
    return { state: "refused", reason: "shell_escape" };
  }
  return await send(sight, seen, input);
}

/** When tmux found the guard false, another look tells why. */
async function send(sight: KeySight, seen: Seen, input: TypedInput): Promise<KeyOutcome> {
  const { fill, type } = requests(sight, seen, input);
  try {
    for (const request of fill) await sight.server.run(...request);
    const answer = await sight.server.run(...type);
    if (!answer.includes(GUARD_REFUSED)) return { state: "typed" };
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    return { state: "refused", reason: failureOutcome(error).reason ?? "tmux_failed" };
  }
  const again = await look(sight);
  if ("outcome" in again) return { state: "refused", reason: again.outcome.reason ?? "tmux_failed" };
  return { state: "held", reason: "dialog_open" };
}

function requests(
  sight: KeySight,
  seen: Seen,
  input: TypedInput,
): { fill: TmuxCommand[][]; type: TmuxCommand[] } {
  const { pane } = sight.target;
  const guard = guardOf(sight, seen);
  const typed = (command: TmuxCommand): { fill: TmuxCommand[][]; type: TmuxCommand[] } => ({
    fill: [],
    type: [guarded(pane, guard, [verbs.leaveModes(pane), command])],
  });
  switch (input.type) {
    case "key":
      return typed(verbs.sendKey(pane, input.key));
    case "text":
      return typed(verbs.sendLiteral(pane, input.text));
    case "paste": {
      const method = seen.process.shellBelow && input.text.includes("\n") ? "marked" : "paste";
      return typingRequests(pane, { text: input.text, method, guard });
    }
  }
}
