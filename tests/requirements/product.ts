/** Commands, wrapper, listener, setup, MCP tools and relay. */
import { agents, main, mirror, packages, phone, type Requirement, rows } from "./row.ts";

const COMMANDS = rows("docs/specification.md, Commands", {
  "cli-agents": main("The wrapper knows cc, gemini, codex, cursor, opencode and copilot."),
  "cli-prove": main(
    "deno task prove checks the README's claims again, prints one line for each, and exits 1 when one fails.",
  ),
  "cli-help": main("Every command has --help with an example."),
  "cli-json": main("Every command that prints facts has --json."),
  "cli-exit": main("A command exits 0 when done, 1 when it failed, 2 when it was used incorrectly."),
  "cli-error-next": main("An error on stderr says what to do next."),
  "cli-color": main("Colors appear only on a terminal, and never with NO_COLOR."),
  "cli-progress": main("Anything that takes more than a second shows progress."),
  "cli-home": main("SVC_HOME moves ~/.svc."),
  "cli-options-first": main(
    "svc's own options come before the subcommand; after an agent's name every argument is the agent's.",
  ),
  "cli-agent-help": main("--help and --version after an agent's name go to the agent."),
  "cli-detach": main("svc --detach <agent> creates the session without attaching to it."),
  "cli-send": main("svc send <session> [text…] sends a message and follows its receipt."),
  "cli-sessions": main("svc sessions lists the sessions of the account."),
  "cli-status": main("svc status reports the state of the listener."),
  "cli-logs": main("svc logs shows the listener's log."),
  "cli-keys": main("svc keys creates, lists and revokes API keys."),
  "cli-listener-stop": main("svc listener --stop ends the daemon."),
  "cli-pair": mirror("svc pair pairs a phone."),
  "cli-devices": mirror("svc devices lists and revokes devices."),
  "cli-mute": agents("svc mute silences a project, wherever its agent works, and svc unmute undoes it."),
  "cli-mcp": agents("svc mcp is the MCP server on standard input and output."),
  "cli-hook": agents("svc hook <event> <agent> is the entry point of the hooks other than the prompt hook."),
  "cli-completions": packages("svc completions <shell> prints a completion script that evaluates nothing."),
  "cli-man": packages(
    "The manual page svc.1 has every command with its options, and is made from their help.",
  ),
  "con-ps": main("The daemon appears as cli.ts listener in Deno and as cli.js listener in the npm package."),
});

const SERVICES = rows("docs/operating.md, As a service", {
  "srv-install": packages(
    "svc service installs the relay or the listener as a service, shows it and removes it; doing so again changes nothing.",
  ),
  "srv-keep-agents": packages(
    "Stopping, restarting or removing the listener's service ends neither the tmux server nor the agents.",
  ),
  "srv-one": packages(
    "Where the listener is a service, a wrapper and svc listener --restart start that service.",
  ),
  "srv-runs": packages(
    "An install says that a service runs once it stays up, and otherwise leaves everything as it was.",
  ),
  "srv-command": packages("A service starts exactly the command that runs the installed svc."),
  "srv-relay": packages("The relay's service is restricted to what a relay needs."),
  "srv-own": packages("svc neither replaces nor removes a unit that it did not write."),
});

const CONTAINER = rows("docs/operating.md, In a container", {
  "con-file": packages(
    "The relay's container is built from Debian and npm alone, with the versions that svc is tested with, and runs without root.",
  ),
});

const KEPT = rows("docs/operating.md, Sessions that come back after a reboot", {
  "keep-back": packages("A marked session comes back after a reboot, in its folder."),
  "keep-resume": packages("Its agent is started with its own option for continuing a conversation."),
  "keep-once": packages(
    "A marked session is started at most once in a boot, and not while it is there, even if the listener dies in the meantime.",
  ),
  "keep-retry": main("A start that failed is tried again when the service next starts its listener."),
  "keep-twin": packages("Two sessions that would continue the same conversation are not both kept."),
});

const UPGRADES = rows("docs/operating.md, Upgrading", {
  "upg-command": packages("svc upgrade names what upgrades this svc, by how it was installed."),
  "upg-run": packages("svc upgrade --run runs that, and stops at the first failure."),
  "set-verify-path": packages(
    "svc verify names hooks, MCP entries, plugins and services that point to what no longer exists or to another svc.",
  ),
});

const SVC_UP = rows("docs/specification.md, svc up", {
  "up-one-command": main(
    "svc up starts a relay and a listener connected to each other, and prints a QR code and a link.",
  ),
  "up-inventory": main("svc up shows the inventory as it changes."),
  "up-certificate": main("svc up with a certificate uses the address that it is for."),
  "up-stops-own": main("Ctrl-C at svc up stops only what it started."),
  "up-keeps-listener": main(
    "While svc up runs, a listener that crashed is started again, and one that was stopped is not.",
  ),
  "up-demo": main("svc up --demo adds a session with the built-in echo agent."),
  "up-addresses": main(
    "svc up says which address is good for what, because browsers offer cryptography only on https and localhost; svc pair prints it again.",
  ),
  "up-tunnel": packages(
    "svc up --tunnel uses tailscale serve, at a free port, or cloudflared when one is installed.",
  ),
  "up-tls": main("svc up and svc server accept a TLS certificate and key."),
});

const STABLE_OUTPUT_FOR_SCRIPTS = rows("docs/specification.md, Stable output for scripts", {
  "con-ready": main(
    "svc server prints `svc server listening on http://HOST:PORT (ws://HOST:PORT/ws)` when it is ready.",
  ),
  "con-free-port": main("svc server --listen 127.0.0.1:0 takes a free port."),
  "con-keys": main("svc keys create --json prints id, name, scopes and key."),
  "con-pair": mirror("svc pair --json prints code, url and expiresAt."),
  "con-sessions": main("svc sessions --json prints the array of inventory entries."),
  "con-send": main("svc send --json prints the push with its final receipt."),
  "con-send-exit": main("svc send exits 0 only for submitted or typed."),
  "con-status": main("svc status --json holds listener with pid, version and connected."),
  "con-detach": main("svc --detach <agent> prints nothing but the session's name on stdout."),
});

const WRAPPER = rows("docs/specification.md, Wrapper", {
  "wr-basename": main("The project is the basename of the project directory."),
  "wr-underscore": main("A character outside [A-Za-z0-9_-] becomes _, and an empty name becomes project."),
  "wr-exact": main("Session names are matched exactly, never by tmux's prefix rule."),
  "wr-own-process": main("The agent is the pane's own process, so that leaving it ends the session."),
  "wr-options": main("The session carries @svc_agent, @svc_project, @svc_dir, @svc_pane and @svc_version."),
  "wr-user-hooks": main(
    "The pane that is recorded is the agent's, whatever panes the user's after-new-session hook opens, and whether it fails.",
  ),
  "wr-session-env": main("The pane's environment has SVC_SESSION."),
  "wr-control-client": main("A control-mode client does not count as attached."),
  "wr-race": main(
    "When two wrappers start at the same moment, both get a session; the loser takes the next number.",
  ),
  "wr-many": main(
    "tmux and its sessions survive sessions that begin while the listener attaches to it, though tmux before 3.7 can crash then.",
  ),
  "wr-lowest": main(
    "Of several detached sessions of the same agent the wrapper attaches to the lowest number.",
  ),
  "wr-agent-gone": main("Without a terminal to attach, a session whose agent has ended counts as taken."),
  "wr-no-agent": main(
    "A missing agent binary gives one clear sentence with the install command, exit 1, and leaves nothing behind.",
  ),
  "wr-no-tmux": main(
    "A missing or too old tmux gives one clear sentence with this system's install command.",
  ),
  "wr-no-terminal": main("Without a terminal the wrapper says so and names --detach."),
  "wr-suspend": main("tmux's keys for suspending give the terminal back to the shell; fg returns to it."),
  "wr-wait-env": agents("The wrapper sets what the agent needs to wait for the phone."),
  "wr-leftovers": agents(
    "When the session of an agent that ignores the loss of its terminal ends, the agent and what it started are ended.",
  ),
});

const LISTENER = rows("docs/specification.md, Listener", {
  "ls-lock": main(
    "One listener runs for each account and SVC_HOME, by an exclusive lock next to the pid file.",
  ),
  "ls-socket": main("Hooks and svc status reach the listener through listener.sock, mode 0600."),
  "ls-stale-pid": main("A stale pid file or a reused pid neither prevents a start nor hides a daemon."),
  "ls-twenty": main("Twenty wrappers at once lead to one daemon."),
  "ls-own-session": main("The daemon runs detached in a separate process session."),
  "ls-clean-env": main("The daemon's environment lacks the variables that belong to one run of an agent."),
  "ls-readiness": main("The wrapper waits until the daemon is ready, not merely until it is spawned."),
  "ls-handover": main("--restart hands over without losing a push."),
  "ls-every-server": main("The listener serves every live tmux server that has sessions."),
  "ls-ambiguous": main("A session name that exists on two tmux servers is refused as ambiguous_session."),
});

const INVENTORY = rows("docs/specification.md, Inventory", {
  "ls-one-call": main("A poll makes one call to each tmux server for all its sessions."),
});

const AGENT_STATES = rows("docs/specification.md, Agent states", {
  "ls-state-order": main("A state comes from the hooks, else from the screen, else from activity."),
  "ls-hook-at-once": agents("A change that a hook reports is reported to the relay at once."),
});

const LOGS_AND_AUDIT = rows("docs/specification.md, Logs and audit", {
  "ls-log-injection": main(
    "The log has one line for each injection, with id, session, outcome and milliseconds.",
  ),
  "ls-log-connection": main("The log has one line for each change of the connection."),
  "ls-log-rotation": main("The log is rotated at 10 MB, and three old files are kept."),
  "ls-audit": main(
    "audit.jsonl gets one line for each remote input, with the text's digest and length, never the text.",
  ),
  "ls-audit-mode": main("audit.jsonl is append-only and has mode 0600."),
  "ls-audit-shown": main("svc logs --audit shows the audit."),
  "ls-audit-phone": phone("The phone shows the audit."),
});

const REMOTE_MODE = rows("docs/specification.md, REMOTE mode", {
  "rm-files": main("A marker is a file under ~/.svc/markers, named by the digest of the project directory."),
  "rm-list": main("Outstanding markers of a project are a list with one entry per injection."),
  "rm-taken": agents("A match removes its marker."),
  "rm-day": agents("A marker expires after 24 hours."),
  "rm-canonical": main(
    "Both sides hash the canonical text: line ends, tabs and control characters normalized, NFC, trimmed.",
  ),
  "rm-cwd": agents(
    "The hook identifies the project by the cwd of its input, never by its environment; a marker for the agent's own pane counts in whatever directory the agent works.",
  ),
  "rm-ends": agents("A prompt that matches no marker ends REMOTE mode, and the model is informed."),
  "rm-ends-mute": agents("svc mute and the end of the session end REMOTE mode."),
  "rm-compact": agents(
    "After the agent has compacted its context, the model is informed of REMOTE mode again.",
  ),
  "rm-never-breaks": agents(
    "A hook without a daemon, without a configuration or with a damaged file exits 0, prints nothing, within 150 ms.",
  ),
  "rm-hook-id": agents(
    "Pushes sent by hooks carry hookId, by which the relay counts, mutes and revokes an installation.",
  ),
});

const TOOL_CALL_HOOKS = rows("docs/specification.md, Tool-call hooks", {
  "hook-after-background": agents("The report of a tool call's end does not delay the agent."),
});

const SETUP = rows("docs/specification.md, Setup", {
  "set-detect": agents("svc setup finds the installed agents."),
  "set-dry-run": agents("svc setup --dry-run shows what it would write and writes nothing."),
  "set-idempotent": agents("A second svc setup changes nothing."),
  "set-comments": agents("Comments and order in JSONC and TOML files are kept."),
  "set-backup": agents("Each changed file is backed up once."),
  "set-remove": agents("svc setup --remove restores the files byte for byte."),
  "set-plugin": agents("For the primary agent the plugin is installed from plugin/."),
  "set-timeout": agents("Each client's tool timeout lets 600 seconds pass."),
  "set-allowed": agents("The svc tools are allowed in advance in each client."),
  "set-codex-env": agents("Under Codex the svc server gets the variables by which it reaches the relay."),
  "set-trust-told": agents("svc setup says what it trusts on the user's behalf."),
  "set-verify": agents(
    "svc verify probes the hooks and the MCP server of each agent and names each fault with its fix.",
  ),
});

const MCP_TOOLS = rows("docs/specification.md, MCP tools", {
  "mcp-ask": agents(
    "svc_ask takes a question, options, multiple and a timeout of 120 to 600 seconds, by default 300.",
  ),
  "mcp-batch": agents("The requests of a batch are answered one by one."),
  "mcp-by-hand": agents(
    "svc mcp that a user starts in a terminal says that agents start it, and Ctrl-D ends it.",
  ),
  "mcp-too-long": agents(
    "A message of more than 1 MiB is refused with an error if it is a request, and otherwise skipped.",
  ),
  "mcp-prompt": agents("svc_prompt asks for free text."),
  "mcp-input": agents(
    "svc_input asks for named, typed fields; secret ones are never logged and need sealing.",
  ),
  "mcp-notify": agents("svc_notify sends a note and returns at once."),
  "mcp-progress": agents("The tools report progress while they wait."),
  "mcp-survives": agents("A wait survives a lost connection to the relay."),
  "mcp-timeout": agents(
    "The result of a timeout says that the session stays reachable and the answer will be typed in.",
  ),
  "mcp-late": agents("An answer after the timeout becomes a message to the session."),
});

const RELAY = rows("docs/specification.md, Relay", {
  "rl-options": main("svc server takes --listen, --data, --public-url, --tls-cert and --tls-key."),
  "rl-accounts": main("The relay holds several accounts, which do not see one another."),
  "rl-key-once": main("A key with scopes is created by svc keys create and shown once."),
  "rl-retention": main("Pushes are kept for 30 days, expired ones for 7."),
  "rl-sweep": main("Others use the relay while it removes old pushes, and a stop does not wait for that."),
  "rl-stop": main(
    "A graceful stop accepts nothing new, closes with 1012, flushes and exits within 5 seconds.",
  ),
  "rl-one-folder": main("The relay is one process with one folder to back up."),
  "rl-backup": main("svc server backup FILE makes a consistent copy while the relay runs."),
  "ph-served": main("The relay serves the phone's page at / without a build step for the user."),
});

const PHONE_VIEWS = rows("docs/specification.md, Phone views", {
  "ph-first-page": main(
    "The first page has sign-in with a key, the picker and a message with its live receipt.",
  ),
  "ph-no-third-party": main("The page asks no third party for anything."),
  "ph-size": phone("The app is under 150 KB compressed without the terminal and under 300 KB with it."),
});

export const PRODUCT_ROWS: readonly Requirement[] = [
  ...COMMANDS,
  ...SERVICES,
  ...CONTAINER,
  ...KEPT,
  ...UPGRADES,
  ...SVC_UP,
  ...STABLE_OUTPUT_FOR_SCRIPTS,
  ...WRAPPER,
  ...LISTENER,
  ...INVENTORY,
  ...AGENT_STATES,
  ...LOGS_AND_AUDIT,
  ...REMOTE_MODE,
  ...TOOL_CALL_HOOKS,
  ...SETUP,
  ...MCP_TOOLS,
  ...RELAY,
  ...PHONE_VIEWS,
];
