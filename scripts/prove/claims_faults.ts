/** Claims about faults: real processes are killed, stopped, cut off and starved while messages are sent to many sessions. */
import type { Claim } from "./claims.ts";

/** `deno task test:faults` runs the same tests with few messages. */
const LONG = { SVC_FAULTS: "long" };

const row = (text: string, file: string): Claim => ({
  text,
  tests: { files: [`tests/e2e/faults_${file}_test.ts`] },
  env: LONG,
  count: { rows: /^fault row: /gm },
});

export const FAULTS: Claim[] = [
  row(
    "kill -9 of the listener at every step, its upgrade, a slow control socket, twenty wrappers",
    "listener",
  ),
  row("kill -9 of the relay at every step, and its restart, under load", "relay"),
  row("a proxy cuts, stalls, half-closes, delays and replays", "link"),
  row("journal cut, other files junk; what a stopped listener leaves of tmux", "files"),
  row("a full disk, no more open files, for the listener and for the relay", "host"),
  row("the clock of the listener or of the relay set back and forward, and the host asleep", "clock"),
  row("the memory limit of the listener and of the relay reached", "memory"),
  row("on NATS: its servers and the relay nodes killed, and NATS stopped for 20 s", "nats"),
  row("tmux killed, sessions renamed and killed, agents that exit above a shell, under a queue", "tmux"),
  {
    text:
      "half an hour of use with a link that is cut after every minute: memory flat, nothing left over, lost or duplicated",
    task: "test:soak",
    quote: { part: /^soak (.*)$/gm, as: "$1;" },
  },
];
