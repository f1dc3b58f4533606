/** Endpoints, injection, discovery, commands, authentication, logs, limits and versions. */
import { agents, main, mirror, type Requirement, rows } from "./row.ts";

const PUSHES = rows("docs/specification.md, Pushes", {
  "http-send": main("POST /pushes/send takes the push as JSON."),
  "http-headers": main("The request carries X-API-Key and Content-Type: application/json."),
  "http-script": main("A script can send a push with the same request as the phone."),
  "http-no-stream": main("A message goes out over HTTP while no live stream is open."),
  "ws-push-new": main("The relay sends push.new for each push."),
  "ver-unknown-type": main(
    "A daemon acknowledges a push type that it does not know as ignored instead of staying silent.",
  ),
});

const LISTENER = rows("docs/specification.md, Listener", {
  "ws-persistent": main("The listener keeps one persistent connection and reconnects when it breaks."),
  "ws-acts-on": main(
    "The listener acts on agent.command, on agent.start if the host allows it, and on nothing else.",
  ),
});

const INVENTORY = rows("docs/specification.md, Inventory", {
  "ws-sessions": main("The listener reports its inventory as listener.sessions."),
  "ws-sessions-stored": main("The relay acknowledges a report by storing it."),
  "ev-report": main("listener.sessions is sent on a change or as the 30-second heartbeat."),
});

const INJECTION = rows("docs/specification.md, Injection", {
  "inj-1-name": main("First the session name is checked against the charset."),
  "inj-2-guard": main("Then the pane guard is checked."),
  "inj-3-rate": main("Then the session's rate limit is checked."),
  "inj-4-type": main(
    "Then the body is typed literally into the session, with tmux send-keys -l or from a paste buffer.",
  ),
  "inj-5-enter": main("Then Enter is sent."),
  "inj-6-marker": main("The injection's marker is recorded."),
  "ev-inject": main("Only an agent.command with session name and body leads to an injection."),
  "err-rate": main("Nothing is typed beyond the session's rate limit."),
  "err-ignored": main("A push that is not an agent.command, or lacks a name or a body, types nothing."),
});

const TMUX_SOCKET_DISCOVERY = rows("docs/specification.md, tmux socket discovery", {
  "sock-default": main("Discovery tries tmux's default location first."),
  "sock-tmpdir": main("Then it tries the per-user paths under $TMPDIR."),
  "sock-tmp": main("Then it tries /tmp/tmux-<uid>/."),
  "sock-lsof": main("Last it finds running tmux servers with lsof."),
  "sock-stale": main("A stale socket file does not stop discovery."),
  "sock-hung": main("A server that did not answer the last time holds up the others for at most 1.5 s."),
  "sock-override": main("SVC_TMUX_SOCKET replaces discovery."),
  "sock-no-file": main("A path where something other than a socket is, which tmux would delete, is refused."),
});

const COMMANDS = rows("docs/specification.md, Commands", {
  "cmd-agent": main("svc <agent> [args…] runs the agent in tmux through the wrapper."),
  "cmd-listener": main(
    "svc listener runs the listener in the foreground and logs what listener.log would contain.",
  ),
  "cmd-restart": main("svc listener --restart restarts the daemon."),
  "cmd-verify": main("svc verify checks the installation and warns while SVC_WS_URL is set."),
  "cmd-setup": agents("svc setup installs the agents' hooks, including the push at the end of a turn."),
  "cmd-remote-hook": agents(
    "svc remote-hook <agent> is the entry point of the agents' prompt hooks.",
  ),
  "cmd-ps": main(
    "The daemon appears in ps as cli.js listener (cli.ts in a checkout), so that it can be found without its pid file.",
  ),
});

const AUTHENTICATION_AND_ENCRYPTION = rows("docs/specification.md, Authentication and encryption", {
  "auth-http": main("HTTP is authenticated by the API key in X-API-Key."),
  "auth-ws": main("The WebSocket is authenticated by the API key and needs the scope push:read."),
  "enc-default-off": main("Encryption is off by default: messages cross the relay readable."),
  "enc-public-key": mirror(
    "With encryption on, the phone sends a public key, a new one for each stream, when it subscribes.",
  ),
  "enc-envelope": mirror("With encryption on, every pane frame returns in a P-256 and AES-256-GCM envelope."),
  "enc-keys": mirror(
    "Keystrokes are sealed for the listener with their sequence number inside the ciphertext.",
  ),
  "enc-no-replay": mirror("The relay cannot replay a keystroke."),
  "enc-drop": mirror("A frame that cannot be encrypted is dropped and never sent in plaintext."),
  "enc-gap-rest": main("The documents name the gap that a message sent over HTTP is readable by the relay."),
  "enc-gap-active": main("The documents name the gap that base mode is secret only from a passive relay."),
  "auth-permission": main(
    "The agent's own permission prompts stay in force: a phone cannot approve them, unless the host sets allowRemoteApproval.",
  ),
});

const REMOTE_MODE = rows("docs/specification.md, REMOTE mode", {
  "ev-hooks": agents("The agents' UserPromptSubmit and BeforeAgent events drive REMOTE mode."),
});

const LOGS_AND_AUDIT = rows("docs/specification.md, Logs and audit", {
  "log-start": main(
    "The first log line of a start is `[<time>] svc listener starting — v<version> — <ws address>`.",
  ),
  "log-reported": main("After a report the log says `[<time>] reported <n> session(s): <names>`."),
  "log-persisted": main(
    "Once the relay has stored it, the log says `[<time>] ✓ server persisted <n> session(s)`.",
  ),
  "log-rejected": main("On a failure the log says `! server rejected listener.sessions: <reason>`."),
  "log-reason": main("The reason of a rejected report points at its cause."),
  "err-rejected": main("A report that the relay rejects appears in the listener's log."),
});

const TARGET_AND_GUARD = rows("docs/specification.md, Target and guard", {
  "err-shell": main(
    "Nothing is typed while bash, zsh, fish, sh, dash, ksh, tcsh, csh or pwsh runs in the pane.",
  ),
  "err-name": main("A session name outside the charset is not a target and never reaches tmux's arguments."),
});

const TYPING_AND_SUBMITTING = rows("docs/specification.md, Typing and submitting", {
  "err-literal": main("Escape sequences and tmux commands in a body are data."),
});

const LIMITS = rows("docs/specification.md, Limits", {
  "lim-rate": main("Each session has a token bucket of 30 injections a minute."),
  "lim-poll": main("The inventory is polled every 5 seconds."),
  "lim-heartbeat": main("An unchanged inventory is sent again every 30 seconds."),
  "lim-ask": agents("svc_ask, svc_prompt and svc_input wait for 120 to 600 seconds."),
  "lim-charset": main("Session names use the charset [A-Za-z0-9._-]+."),
});

const VERSIONS = rows("docs/specification.md, Versions", {
  "ver-written": main("The daemon writes its version to listener.version and into its first log line."),
  "ver-older": main("A wrapper newer than the daemon restarts it on the installed version."),
  "ver-newer": main("A wrapper older than the daemon leaves it alone."),
  "ver-upgrade": main("Upgrading the package on disk does not by itself replace a running daemon."),
});

export const SPEC_WIRE_ROWS: readonly Requirement[] = [
  ...PUSHES,
  ...LISTENER,
  ...INVENTORY,
  ...INJECTION,
  ...TMUX_SOCKET_DISCOVERY,
  ...COMMANDS,
  ...AUTHENTICATION_AND_ENCRYPTION,
  ...REMOTE_MODE,
  ...LOGS_AND_AUDIT,
  ...TARGET_AND_GUARD,
  ...TYPING_AND_SUBMITTING,
  ...LIMITS,
  ...VERSIONS,
];
