/** What security.md promises of a phone, a script or a relay that sends whatever it likes, shown on the real agents. */
import { agents, mirror, type Requirement, rows } from "./row.ts";

export const CLOSED_ROWS: readonly Requirement[] = rows("security, what a phone may do", {
  "closed-race": agents(
    "A message that races with a permission dialog approves nothing, is not lost, and its receipt is true.",
  ),
  "closed-crawler": agents(
    "Random sequences of all that a phone can send run nothing, approve nothing, and change no approval mode.",
  ),
  "closed-keys": agents("No key and no burst gives an editor, a shell, a suspended agent or another mode."),
  "closed-screens": agents(
    "A message waits while a screen shows that is not the agent's input line, and goes in afterwards.",
  ),
  "closed-remote": agents("A long message of the phone's own does not end REMOTE mode."),
  "closed-colours": agents("The input line is recognised with COLORTERM and without."),
  "closed-paste": agents("A long first message under load is submitted, and the next one too."),
  "closed-trust": agents("A message waits for the trust dialog of a new session, drawn or not."),
  "closed-vim": agents("A message while vim mode is VISUAL leaves nothing behind."),
  "closed-useful": agents(
    "Model menu, session list, transcript and harmless commands work by a phone's keys.",
  ),
  "closed-left": agents("Nothing of an agent is left running after its session was killed."),
  "closed-unrecorded": mirror(
    "A session that no wrapper made gets nothing while a shell, an editor, a pager or a prompt reads.",
  ),
  "closed-hostile-screen": mirror(
    "A hostile screen of 1000 by 1000 keeps no other session's message waiting.",
  ),
});
