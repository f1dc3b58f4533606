/** A phone, a script or a relay that sends arbitrary input, tested on the real agents. */
import { agents, mirror, type Requirement, rows } from "./row.ts";

const WHAT_A_PHONE_MAY_DO = rows("docs/specification.md, What a phone may do", {
  "closed-race": agents(
    "A message that races with a permission dialog approves nothing, is not lost, and has a correct receipt.",
  ),
  "closed-crawler": agents(
    "Random sequences of everything a phone can send run nothing, approve nothing and change no approval mode.",
  ),
  "closed-keys": agents(
    "No key and no burst of keys reaches an editor, a shell, a suspended agent or another mode.",
  ),
  "closed-screens": agents(
    "A message waits while a screen other than the composer shows, and is typed afterwards.",
  ),
  "closed-remote": agents("A long message from the phone does not end REMOTE mode."),
  "closed-colors": agents("The composer is recognized with COLORTERM and without."),
  "closed-paste": agents("A long first message under load is submitted, and the next one too."),
  "closed-trust": agents(
    "A message waits for the trust dialog of a new session, whether it is drawn yet or not.",
  ),
  "closed-vim": agents("A message while vim mode is VISUAL leaves nothing behind."),
  "closed-useful": agents(
    "The model menu, the session list, the transcript and harmless commands work by a phone's keys.",
  ),
  "closed-left": agents("Nothing of an agent keeps running after its session was killed."),
  "closed-by-hand": agents(
    "Nothing that a phone sends after a Ctrl-C reaches the shell in which a person started the agent.",
  ),
  "closed-resized": agents(
    "A permission dialog gets no input from a phone, whatever size the phone gives the screen.",
  ),
  "closed-unrecorded": mirror(
    "A session that no wrapper created gets nothing while a shell, an editor, a pager or a prompt reads.",
  ),
  "closed-hostile-screen": mirror(
    "A hostile screen of 1000 by 1000 does not delay another session's message.",
  ),
});

export const CLOSED_ROWS: readonly Requirement[] = [...WHAT_A_PHONE_MAY_DO];
