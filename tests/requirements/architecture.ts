/** The tree, the data flows, the dependencies and the runtimes. */
import { agents, main, mirror, packages, type Requirement, rows, scale } from "./row.ts";

const THE_TREE = rows("ARCHITECTURE.md, The tree", {
  "arch-layers": main("Imports point down only."),
  "arch-programs": main("Programs of layer 3 never import one another."),
  "arch-runtime": main("Deno.* and node:* appear in src/runtime only."),
  "arch-tmux-argv": main("One builder makes tmux's arguments."),
  "arch-lazy": main("A command's module is loaded only when the command is called."),
  "arch-agent-file": main(
    "Each agent kind has its own folder under src/agents, and one entry in the registry.",
  ),
  "arch-page": main(
    "ARCHITECTURE.md has one diagram, one table of data flows and one annotated tree that names every folder.",
  ),
  "arch-plugin": agents("plugin/ holds the primary agent's manifest, hooks, MCP entry and svc-remote.sh."),
});

const DATA_FLOWS = rows("ARCHITECTURE.md, Data flows", {
  "flow-1": main("A phone's message passes relay, socket, listener and tmux and comes back as a receipt."),
  "flow-2": mirror("A pane's output passes listener and hub to the phone's terminal; keys go the other way."),
  "flow-3": agents("An agent's question gets its answer while it waits, or as a message afterwards."),
  "flow-4": main("The inventory passes the report rule, the relay and the phone into the picker."),
  "flow-4-label": main("The wrapper and the inventory take labels and names from src/protocol/names.ts."),
});

const RULES_FOR_DEPENDENCIES = rows("docs/dependencies.md, Rules for dependencies", {
  "dep-npm-only": main("Every dependency comes from the npm registry, pinned in deno.json."),
  "dep-reasons": main("Every dependency has its line in docs/dependencies.md."),
  "dep-hot-words": main("Hot and verbatim subcommands are dispatched before any option parser is loaded."),
  "dep-ws-caps": main("The relay's sockets cap fragmented messages and refuse unmasked frames."),
  "dep-handshake-why": main("A failed handshake is explained by one HTTP call."),
  "dep-npm-package": packages(
    "The npm package has a bin named cli.js and is run under Node after it was built.",
  ),
});

const RUNTIMES_AND_STORAGE = rows("docs/specification.md, Runtimes and storage", {
  "run-node": main("The relay also runs on Node 22, through src/runtime."),
  "run-both": packages("Every command runs on Deno 2.9 and on Node 22.", {
    untested: "the gate runs the suites on Deno, deno task test:node on Node",
  }),
  "run-node-old": main("On an older Node every command names the version it needs, and a hook stays silent."),
  "run-sqlite": main("The store is embedded SQLite."),
  "run-migrations": main("Migrations are numbered, and a store with an older schema is brought up to date."),
  "run-nats": scale("NATS JetStream takes over where one machine is no longer enough."),
});

const OPERATING_ON_NATS = [
  ...rows("docs/operating.md, Several relays on NATS", {
    "nats-access": scale(
      "NATS with TLS and users is used with the right files; with others svc server says in one sentence what to do.",
    ),
    "nodes-presence": scale(
      "A phone or listener on another node counts as connected; what a dead node, or a gap, left open is closed.",
    ),
    "nodes-limits": scale(
      "Limits on requests and frames apply across all nodes; an excess is owed.",
    ),
    "nats-payload": scale(
      "A NATS server that takes shorter messages than svc's is refused at the start, with what to do; none is lost silently.",
    ),
    "nats-room": scale(
      "An account's keys, devices and subscriptions in NATS grow to three quarters of max_payload; a revocation is always stored. One key's session names leave room for others.",
    ),
    "nodes-clocks": scale(
      "Relays whose clocks differ by minutes, or are set, use NATS's: presence, expiry, pairing codes, order and limits agree.",
    ),
    "nodes-cut": scale("A relay that is cut off from two of three NATS servers continues with the third."),
    "nodes-moved": scale(
      "A relay that was cut off delivers nothing to a listener that has connected to another one in the meantime.",
    ),
    "nats-late": scale("The first relay on a NATS cluster waits for a server that is late."),
    "nats-lag": scale(
      "A push that a lagging or former leader of NATS lacks is not dropped, nor is its receipt.",
    ),
    "nats-loss": scale(
      "After NATS has lost its newest messages, pushes and revocations that are stored then reach every relay.",
    ),
    "nats-start": scale("A node that starts reads only what came after another's checkpoint."),
    "nodes-upgrade": scale("Nodes are upgraded one by one under load; old and new ones run side by side."),
    "nats-exact": scale("Changes by several relays at once on three NATS servers are all kept."),
    "nats-unchanged": scale("A host's unchanged report is stored again only after five minutes."),
    "nats-frames": scale("The largest frame of a mirror crosses between two relays over NATS's own limits."),
  }),
  ...rows("docs/operating.md, The relays", {
    "nodes-documented": scale(
      "NATS, systemd and Compose accept the documented files, and the unit runs a relay.",
    ),
  }),
  ...rows("docs/operating.md, The load balancer", {
    "nodes-nginx": scale(
      "The documented nginx balances relays on NATS: a relay that restarts loses nothing.",
    ),
  }),
  ...rows("docs/operating.md, What to watch", {
    "nodes-watch": scale(
      "A relay on NATS has a metric for the messages that it has still to read, and one for gaps.",
    ),
  }),
  ...rows("docs/operating.md, Moving a relay to NATS and back", {
    "run-migrate": scale(
      "svc server migrate copies all of a relay to NATS or back, several times while it runs, and nothing is lost or duplicated.",
    ),
  }),
];

const HOUSE_RULES = rows("CONTRIBUTING.md, House rules", {
  "run-sanitizers": main("Leak sanitizers are on in every test."),
});

export const ARCHITECTURE_ROWS: readonly Requirement[] = [
  ...THE_TREE,
  ...DATA_FLOWS,
  ...RULES_FOR_DEPENDENCIES,
  ...RUNTIMES_AND_STORAGE,
  ...OPERATING_ON_NATS,
  ...HOUSE_RULES,
];
