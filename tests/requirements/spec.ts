/** Purpose, wrapper, inventory, REMOTE mode, resources and transitions. */
import { agents, main, mirror, type Requirement, rows } from "./row.ts";

const PURPOSE = rows("docs/specification.md, Purpose", {
  "spec-late-message": main("A message reaches a session even when no tool call is waiting for it."),
  "spec-resident": main(
    "The listener holds one long-lived WebSocket to the relay and injects the messages that arrive on it.",
  ),
  "spec-pick": main("On the phone the user picks a session from the active ones and types a message."),
  "spec-phone-posts": main("The phone sends the message as POST /pushes/send with the type agent.command."),
  "spec-fan-out": main("The relay forwards an accepted push over the WebSocket as the event push.new."),
  "spec-type-enter": main("The listener types the text into the tmux session and then presses Enter."),
  "spec-mirror": mirror("The phone mirrors the live session and shows a status line."),
  "spec-key-row": mirror("The phone has a key row with Esc, arrows, Enter and Tab."),
  "spec-live-typing": mirror("A text field on the phone types straight into the terminal."),
  "spec-agent-kinds": main("Each agent subcommand starts its own agent binary in a tmux session."),
  "spec-cc": main("The primary agent's subcommand is cc."),
  "spec-cursor-binary": main(
    "For the editor's terminal agent, the agent's own binary is started, never the launcher.",
  ),
  "spec-args": main("Arguments after the subcommand are passed to the agent unchanged."),
});

const WRAPPER = rows("docs/specification.md, Wrapper", {
  "wrap-tmux": main("Without tmux the wrapper says so and starts nothing."),
  "wrap-dir-env": main(
    "The project directory is CLAUDE_PROJECT_DIR, else CURSOR_PROJECT_DIR, else WINDSURF_PROJECT_DIR.",
  ),
  "wrap-dir-git": main("Without these variables the project directory is the root of the git repository."),
  "wrap-dir-cwd": main("Outside a repository the project is the basename of the working directory."),
  "wrap-name": main("The session is named svc-<project>."),
  "wrap-next": main(
    "While svc-<project> is attached, the wrapper creates svc-<project>-2, then -3, and so on.",
  ),
  "wrap-label": main("Picker and notifications label them <project> · <Agent>, then the same with #2, #3."),
  "wrap-reattach": main(
    "The wrapper attaches to a detached svc-<project> instead of creating a new session.",
  ),
  "wrap-same-name": main(
    "A session of another directory with the same basename is not attached; the next free number is taken.",
  ),
  "wrap-inside-tmux": main("With $TMUX set the agent runs in the current pane, without an outer tmux."),
  "wrap-inside-untargeted": main(
    "An agent that runs inside an existing tmux gets no separate session to target.",
  ),
  "wrap-starts-listener": main("A wrapper run starts the listener in the background when none is alive."),
  "wrap-singleton": main("A wrapper run starts no second listener."),
  "wrap-survives": main("The listener survives the wrapper that started it."),
  "wrap-never-by-hand": main("Users never have to run svc listener by hand."),
  "wrap-env": main("A listener started by the wrapper gets the wrapper's environment."),
});

const INVENTORY = rows("docs/specification.md, Inventory", {
  "inv-poll": main("The listener reads its tmux sessions every 5 seconds."),
  "inv-new": main("A new or ended session causes a report."),
  "inv-state": main("A change of an agent's state causes a report."),
  "inv-activity": main("Activity in a session causes a report."),
  "inv-unchanged": main("An unchanged inventory is not reported at each poll."),
  "inv-heartbeat": main("An unchanged inventory is sent again after 30 seconds as a heartbeat."),
  "inv-heartbeat-quiet": main("A heartbeat of an unchanged inventory brings no byte to a phone."),
  "inv-order": main("The newest report counts, even if an earlier one takes longer to be stored."),
  "inv-left-out": main("A session that the relay would reject is left out, and the others are reported."),
  "inv-rejected": main(
    "After a rejected report the next one, changed or not, follows after a growing delay of at most 30 seconds.",
  ),
  "inv-picker": main("The phone's picker follows the inventory without any configuration."),
  "res-inventory": main("The inventory lists tmux sessions by name with the agent's state and activity."),
  "res-inventory-stored": main("The relay stores the inventory, and the picker reads it."),
});

const REMOTE_MODE = rows("docs/specification.md, REMOTE mode", {
  "remote-marker": main(
    "Each injection leaves a marker with the time and the SHA-256, keyed by the pane's project directory.",
  ),
  "remote-compare": agents("The prompt hook compares the submitted prompt with the marker."),
  "remote-told": agents("On a match the hook informs the model that the user drives from the phone."),
  "remote-sticky": agents(
    "In REMOTE mode every response of the model ends with a svc_ask that the user can answer.",
  ),
  "remote-exact": agents("Only an exact match counts."),
  "remote-race": agents(
    "A prompt typed at the keyboard while a phone's message arrives is never mistaken for one.",
  ),
  "remote-muted": agents("A muted project is never flagged."),
  "remote-cc": agents("The primary agent's UserPromptSubmit hook calls the plugin's svc-remote.sh."),
  "remote-gemini": agents(
    "svc setup installs a BeforeAgent hook in the Gemini-class agent that calls svc remote-hook.",
  ),
  "remote-codex": agents(
    "svc setup installs a UserPromptSubmit hook in the Codex-class agent that calls svc remote-hook.",
  ),
  "remote-cursor-none": agents(
    "The Cursor-class terminal agent has no prompt hook and never enters REMOTE mode by itself.",
  ),
  "remote-cursor-ask": agents(
    "The documents say how a user asks that agent once to end its responses with svc_ask.",
  ),
  "remote-cursor-works": agents("Injection and every MCP tool work with the Cursor-class terminal agent."),
  "remote-cursor-stop": agents(
    "The stop hook covers the editor, not that agent's panes; a svc_notify can be requested instead.",
  ),
  "remote-cursor-tools": agents("The documents name mcp list-tools as the way to list that agent's tools."),
  "res-marker-epoch": main("A marker holds the time of the injection as an epoch value."),
  "res-marker-hash": main("A marker holds the SHA-256 of the injected text."),
  "res-marker-key": main("A marker is found by the pane's project directory."),
  "res-marker-once": main("A marker is good for one match."),
});

const PUSHES = rows("docs/specification.md, Pushes", {
  "push-in-flight": main("256 pushes to one listener do not wait for one another's acknowledgements."),
  "push-type": main("A push has a type, which is required; agent.command is a command to a listener."),
  "push-types-ignored": main("A listener ignores the other push types."),
  "push-target": main(
    "targetDeviceId names a listener as dev_listener_ and 8 digits of the digest of its host's name.",
  ),
  "push-session": main("agent.command needs agentSessionName in the charset [A-Za-z0-9._-]+."),
  "push-body": main("agent.command needs a body, the text to type."),
});

const CONFIGURATION_AND_FILES = rows("docs/specification.md, Configuration and files", {
  "res-config-key": main("~/.svc/config.json holds the API key as apiKey."),
  "res-config-hook": main("The configuration's hookId begins with hook_."),
  "res-config-ws": main("The configuration's wsUrl is the WebSocket endpoint."),
  "res-pid-file": main("~/.svc/listener.pid holds the pid of the running daemon."),
  "res-version-file": main("~/.svc/listener.version holds the version that the daemon was started from."),
  "res-log-file": main("~/.svc/listener.log holds stdout and stderr of the daemon."),
});

const ENVIRONMENT_VARIABLES = rows("docs/specification.md, Environment variables", {
  "env-ws-url": main("SVC_WS_URL is read only when the configuration has no wsUrl."),
  "env-ws-url-warn": main("svc verify warns while SVC_WS_URL is set."),
  "env-tmux-socket": main("SVC_TMUX_SOCKET names the tmux socket."),
  "env-base-url": main("SVC_BASE_URL is the base address for scripted pushes."),
  "env-one-relay": main(
    "The listener and svc mcp send the host's key to no other relay than the one of the WebSocket address.",
  ),
  "env-api-key": main("SVC_API_KEY is the key for scripted pushes."),
  "env-ws-precedence": main(
    "The address comes from --ws-url, then from the configuration, then from SVC_WS_URL.",
  ),
});

const WRAPPER_AND_DAEMON_TRANSITIONS = rows("docs/specification.md, Wrapper and daemon transitions", {
  "state-none": main("Without svc-<project> a wrapper run creates and attaches it, with the agent in it."),
  "state-attached": main("With svc-<project> attached a wrapper run creates the next number, from 2 on."),
  "state-detached": main("With svc-<project> detached a wrapper run attaches to it and creates none."),
  "state-absent": main("With the pid file missing or its process dead a wrapper run starts the daemon."),
  "state-running": main("With a live daemon a wrapper run starts none."),
  "state-older": main("A daemon older than the installed version is restarted on the installed one."),
  "state-older-told": main("A message reports the restart with the old version and the new one."),
  "state-newer": main("A daemon newer than the wrapper is left alone."),
  "state-restart": main("svc listener --restart restarts the daemon, whatever its version."),
});

export const SPEC_ROWS: readonly Requirement[] = [
  ...PURPOSE,
  ...WRAPPER,
  ...INVENTORY,
  ...REMOTE_MODE,
  ...PUSHES,
  ...CONFIGURATION_AND_FILES,
  ...ENVIRONMENT_VARIABLES,
  ...WRAPPER_AND_DAEMON_TRANSITIONS,
];
