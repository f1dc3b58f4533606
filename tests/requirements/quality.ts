/** Performance, faults, hostile input and external references. */
import { agents, faults, main, mirror, phone, type Requirement, rows, scale } from "./row.ts";

const MEASURED = { untested: "a time, which no test judges: deno task bench measures it" };

const PERFORMANCE = rows("docs/specification.md, Performance", {
  "perf-bench": main(
    "deno task bench prints min, median, max and ratio against an alternative measured in the same run, and writes JSON.",
  ),
  "perf-no-verdict": main("No test's verdict is a time."),
  "perf-post-to-pane": faults(
    "From POST to text in the pane, the whole path beats the bare script at the median.",
    MEASURED,
  ),
  "perf-listener": faults("The listener's own part is under half of one tmux send-keys spawn.", MEASURED),
  "perf-key-echo": mirror("A key's echo takes at most 1.5 times as long as a pty server's."),
  "perf-flood": mirror("A mirrored flood slows the pane by at most a tenth and does not grow memory."),
  "perf-idle-connections": scale("One node holds 10,000 idle connections, all answering.", MEASURED),
  "perf-fan-out": scale("Fan-out is at least that of the alternatives.", MEASURED),
  "perf-hook": agents("svc remote-hook takes at most 1.5 times as long as the bare runtime."),
  "perf-start": faults("svc --help and svc cc start within twice the bare runtime.", MEASURED),
  "perf-idle-listener": faults(
    "An idle listener with 20 sessions takes under 0.3 % of a core and 90 MB, without growth.",
    MEASURED,
  ),
  "perf-in-flight": faults("Half of 256 pushes in flight to one listener arrive within 100 ms.", MEASURED),
  "perf-sweep": faults("No request takes over 50 ms because of the removal of 200,000 old pushes.", MEASURED),
  "perf-nodes": scale("One to three relay nodes on NATS are measured against SQLite, with recovery times.", {
    untested: "a time, which no test judges: deno task bench:nodes measures it",
  }),
});

const FAULTS = rows("docs/specification.md, Faults", {
  "fault-count": faults("Over 10,000 messages with faults none is lost and none is duplicated."),
  "fault-listener": faults("kill -9 of the listener before, between and after typing and recording."),
  "fault-relay": faults("kill -9 of the relay while it accepts, and a restart under load."),
  "fault-proxy": faults("A proxy that cuts, stalls, half-closes, delays and replays."),
  "fault-tmux": faults("The tmux server killed and started again."),
  "fault-session": faults("A session renamed or killed under a queue."),
  "fault-agent-exit": faults("An agent that exits under a queue lets nothing reach the shell."),
  "fault-files": faults("Journal, configuration, pid file and markers truncated or filled with junk."),
  "fault-disk": faults("A full disk."),
  "fault-limits": faults("The limit of open files reached."),
  "fault-memory": faults("The memory limit reached, by the listener and by the relay."),
  "fault-clock": faults("A clock set back and forward."),
  "fault-asleep": faults("A host that sleeps for an hour."),
  "fault-wrappers": faults("Twenty wrappers at once under load."),
  "fault-leftovers": faults(
    "The next listener ends what a stopped and then killed listener leaves in tmux.",
  ),
  "fault-slow": faults("No listener is replaced because its control socket answers after 5 s."),
  "fault-upgrade": faults("The listener upgraded under load."),
  "fault-soak": faults(
    "Over half an hour of use, its link cut after every minute, no process grows, nothing is left over, lost or duplicated.",
  ),
  "fault-nodes": scale("A NATS node and a relay node killed in turn."),
});

const HOSTILE_INPUT = rows("docs/specification.md, Hostile input", {
  "fuzz-wire": main("Fuzzed frames, requests and binary frames never throw."),
  "fuzz-100k": faults("100,000 fuzzed cases of every schema pass without a crash, a hang or a write."),
  "hostile-bodies": faults(
    "Difficult strings arrive byte for byte or are refused, as bodies and as session names.",
  ),
  "hostile-relay": mirror(
    "A relay that swaps keys, replays, reorders, truncates and drops is detected in psk mode every time.",
  ),
  "hostile-network": faults(
    "Slow senders, 10,000 unauthenticated connections, oversized frames and compression bombs do not affect other clients.",
  ),
});

const EXTERNAL_REFERENCES = rows("docs/specification.md, External references", {
  "other-hpke": mirror("HPKE passes the test vectors of RFC 9180."),
  "other-autobahn": faults(
    "The relay passes the Autobahn suite where it can be reached with it, else its cases of RFC 6455.",
  ),
  "other-problem": main("Problems follow RFC 9457."),
  "other-web-push": phone("Web Push passes the examples of RFC 8291 and RFC 8292."),
  "other-mcp": agents("MCP's own client drives svc mcp."),
  "other-agents": agents("The real agents from npm run against a local stand-in for their model's API."),
});

export const QUALITY_ROWS: readonly Requirement[] = [
  ...PERFORMANCE,
  ...FAULTS,
  ...HOSTILE_INPUT,
  ...EXTERNAL_REFERENCES,
];
