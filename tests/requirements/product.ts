/** What product.md decides beyond the spec, but for the injection, which has a file of its own. */
import { agents, main, mirror, packages, phone, type Requirement, rows } from "./row.ts";

const COMMANDS = rows("product, commands", {
  "cli-agents": main("The wrapper knows cc, gemini, codex, cursor, opencode and copilot."),
  "cli-prove": main(
    "deno task prove runs the README's claims again, one line each, and exits by the result.",
  ),
  "cli-help": main("Every command has --help with an example."),
  "cli-json": main("Every command that prints facts has --json."),
  "cli-exit": main("A command exits 0 when done, 1 when it failed, 2 when it was used wrongly."),
  "cli-error-next": main("An error on stderr says what to do next."),
  "cli-colour": main("Colours appear on a terminal only, and never with NO_COLOR."),
  "cli-progress": main("What takes more than a second shows progress."),
  "cli-home": main("SVC_HOME moves ~/.svc."),
  "cli-options-first": main(
    "svc's own options stand before the subcommand; after an agent's name every word is the agent's.",
  ),
  "cli-agent-help": main("--help and --version after an agent's name go to the agent."),
  "cli-detach": main("svc --detach <agent> starts the session without attaching."),
  "cli-send": main("svc send <session> [text…] sends a message and follows its receipt."),
  "cli-sessions": main("svc sessions lists the sessions of the account."),
  "cli-status": main("svc status tells how the listener is."),
  "cli-logs": main("svc logs shows the listener's log."),
  "cli-keys": main("svc keys creates, lists and revokes API keys."),
  "cli-listener-stop": main("svc listener --stop ends the daemon."),
  "cli-pair": mirror("svc pair pairs a phone."),
  "cli-devices": mirror("svc devices lists and revokes devices."),
  "cli-mute": agents("svc mute and svc unmute silence a project and undo it."),
  "cli-mcp": agents("svc mcp is the MCP server on stdio."),
  "cli-hook": agents("svc hook <event> <agent> is the entry of the stop and attention hooks."),
  "cli-completions": packages("svc completions <shell> prints a completion script that evaluates nothing."),
});

const UP = rows("product, svc up", {
  "up-one-command": main(
    "svc up starts relay and listener, joined to each other, and prints a QR and a link.",
  ),
  "up-inventory": main("svc up shows the inventory as it changes."),
  "up-stops-own": main("Ctrl-C at svc up stops only what it started."),
  "up-demo": main("svc up --demo adds a session with the built-in echo agent."),
  "up-addresses": main(
    "svc up says which address works for what, as a browser's cryptography needs https or localhost.",
  ),
  "up-tunnel": packages("svc up --tunnel uses tailscale serve or cloudflared when present."),
  "up-tls": main("svc up and svc server take a TLS certificate and key."),
});

const CONTRACTS = rows("product, contracts for scripts", {
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
  "con-detach": main("svc --detach <agent> prints the session's name alone on stdout."),
  "con-ps": main("The daemon shows as cli.ts listener in Deno and as cli.js listener in the npm package."),
});

const WRAPPER = rows("product, wrapper", {
  "wr-basename": main("The project is the basename of the directory that the rules find."),
  "wr-underscore": main("A character outside [A-Za-z0-9_-] becomes _; an empty name becomes project."),
  "wr-exact": main("Session names are matched exactly, never by tmux's prefix rule."),
  "wr-own-process": main("The agent is the pane's own process, so that leaving it ends the session."),
  "wr-options": main("The session carries @svc_agent, @svc_project, @svc_dir, @svc_pane and @svc_version."),
  "wr-session-env": main("The pane's environment has SVC_SESSION."),
  "wr-control-client": main("A control-mode client does not count as attached."),
  "wr-race": main("Of two wrappers at one instant both get a session; the loser takes the next number."),
  "wr-lowest": main("The lowest detached session of the same agent is the one attached again."),
  "wr-no-agent": main(
    "A missing agent binary is one clear sentence with the install command, exit 1, nothing left behind.",
  ),
  "wr-no-tmux": main("A missing or too old tmux is one clear sentence with this system's install command."),
  "wr-no-terminal": main("Without a terminal the wrapper says so and names --detach."),
  "wr-wait-env": agents("The wrapper sets what the agent needs to wait for the phone."),
  "wr-leftovers": agents("What an agent leaves behind when its session ends is ended."),
});

const LISTENER = rows("product, listener", {
  "ls-lock": main("One listener lives per account and SVC_HOME, by an exclusive lock beside the pid file."),
  "ls-socket": main("Hooks and svc status reach the listener through listener.sock, mode 0600."),
  "ls-stale-pid": main("A stale pid file or a reused pid neither stops a start nor hides a daemon."),
  "ls-twenty": main("Twenty wrappers at once lead to one daemon."),
  "ls-own-session": main("The daemon runs detached in a process session of its own."),
  "ls-clean-env": main("The daemon's environment lacks variables that belong to one agent's run."),
  "ls-readiness": main("The wrapper waits until the daemon is ready, not only until it is spawned."),
  "ls-handover": main("--restart hands over without losing a push."),
  "ls-every-server": main("Every live tmux server that has sessions is served."),
  "ls-ambiguous": main("A name on two tmux servers is refused as ambiguous_session."),
  "ls-one-call": main("A poll asks each tmux server once for all its sessions."),
  "ls-state-order": main("A state comes from the hooks, else from the screen, else from activity."),
  "ls-hook-at-once": agents("A change that a hook tells is reported at once."),
  "ls-log-injection": main("The log has one line per injection with id, session, outcome and milliseconds."),
  "ls-log-connection": main("The log has one line per change of the connection."),
  "ls-log-rotation": main("The log is rotated at 10 MB and three old ones are kept."),
  "ls-audit": main("audit.jsonl takes one line per remote input with digest and length, never the text."),
  "ls-audit-mode": main("audit.jsonl is append-only and of mode 0600."),
  "ls-audit-shown": main("svc logs --audit shows the audit."),
  "ls-audit-phone": phone("The phone shows the audit."),
});

const REMOTE = rows("product, REMOTE mode", {
  "rm-files": main("A marker is a file under ~/.svc/markers named by the digest of the project's directory."),
  "rm-list": main("Outstanding markers of a project are a list, one entry per injection."),
  "rm-taken": agents("A match takes its marker away."),
  "rm-day": agents("A marker is dead after 24 hours."),
  "rm-canonical": main("Both sides hash the canonical text: line ends, tabs, controls, NFC, trimmed."),
  "rm-cwd": agents("The hook keys by the cwd of its input, never by its environment."),
  "rm-ends": agents("A prompt that matches no marker ends REMOTE mode, and the model is told."),
  "rm-ends-mute": agents("svc mute and the end of the session end REMOTE mode."),
  "rm-compact": agents("REMOTE mode is told again after the agent compacted its context."),
  "rm-never-breaks": agents(
    "A hook without daemon, configuration or sound file exits 0, prints nothing, within 150 ms.",
  ),
  "hook-after-background": agents("The report of a tool call's end holds no agent up."),
  "rm-hook-id": agents("Pushes of hooks carry hookId, by which the relay counts, mutes and revokes them."),
});

const SETUP = rows("product, setup", {
  "set-detect": agents("svc setup finds the installed agents."),
  "set-dry-run": agents("svc setup --dry-run shows what it would write and writes nothing."),
  "set-idempotent": agents("A second svc setup changes nothing."),
  "set-comments": agents("Comments and order of JSONC and TOML survive."),
  "set-backup": agents("Each changed file is backed up once."),
  "set-remove": agents("svc setup --remove restores the files byte for byte."),
  "set-plugin": agents("For the primary agent the plugin is installed from plugin/."),
  "set-timeout": agents("Each client's tool time-out lets 600 seconds pass."),
  "set-allowed": agents("The svc tools are allowed beforehand in each client."),
  "set-trust-told": agents("svc setup says what it trusts on the user's behalf."),
  "set-verify": agents(
    "svc verify checks hooks and MCP of each agent by a probe and names each fault with its fix.",
  ),
});

const MCP = rows("product, MCP tools", {
  "mcp-ask": agents(
    "svc_ask takes question, options, multiple and a time-out of 120 to 600 seconds, 300 by default.",
  ),
  "mcp-prompt": agents("svc_prompt asks for free text."),
  "mcp-input": agents(
    "svc_input asks for named, typed fields; secret ones are never logged and need sealing.",
  ),
  "mcp-notify": agents("svc_notify sends a note and returns at once."),
  "mcp-progress": agents("The tools report progress while they wait."),
  "mcp-survives": agents("A wait survives a lost connection to the relay."),
  "mcp-timeout": agents(
    "A time-out's result says that the session stays reachable and the answer will be typed in.",
  ),
  "mcp-late": agents("An answer after the time-out becomes a message to the session."),
});

const RELAY = rows("product, relay", {
  "rl-options": main("svc server takes --listen, --data, --public-url, --tls-cert and --tls-key."),
  "rl-accounts": main("The relay holds several accounts that do not see one another."),
  "rl-key-once": main("A key with scopes is created by svc keys create and shown once."),
  "rl-retention": main("Pushes are kept 30 days, expired receipts 7."),
  "rl-stop": main(
    "A graceful stop accepts nothing new, closes with 1012, flushes and exits within 5 seconds.",
  ),
  "rl-one-folder": main("The relay is one process with one folder to back up."),
  "rl-backup": main("svc server backup FILE makes a sound copy while the relay runs."),
});

const PHONE = rows("product, phone app", {
  "ph-served": main("The relay serves the phone's page at / without a build step for the user."),
  "ph-first-page": main(
    "The first page has sign-in with a key, the picker and a message with its live receipt.",
  ),
  "ph-no-third-party": main("The page asks no third party for anything."),
  "ph-size": phone("The app is under 150 KB gzip without the terminal and under 300 KB with it."),
});

export const PRODUCT_ROWS: readonly Requirement[] = [
  ...COMMANDS,
  ...UP,
  ...CONTRACTS,
  ...WRAPPER,
  ...LISTENER,
  ...REMOTE,
  ...SETUP,
  ...MCP,
  ...RELAY,
  ...PHONE,
];
