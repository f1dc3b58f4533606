/** Enter, in one tmux queue with the guard. */
import { verbs } from "../tmux/argv.ts";
import type { Attempt } from "./inject_host.ts";
import type { Seen } from "./hold.ts";
import { guardOf } from "./type_text.ts";
import { GUARD_REFUSED, guarded } from "./typing.ts";

/** False when tmux found the guard false: Enter was not sent. Throws TmuxError. */
export async function pressEnter(attempt: Attempt, seen: Seen): Promise<boolean> {
  const { target, server } = attempt;
  const enter = [verbs.leaveModes(target.pane), verbs.sendKey(target.pane, "Enter")];
  const answer = await server.run(guarded(target.pane, guardOf(attempt, seen), enter));
  return !answer.includes(GUARD_REFUSED);
}
