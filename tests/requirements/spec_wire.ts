/** The spec's sections 4 to 9: endpoints, authentication, events, errors, limits, versions. */
import { agents, main, mirror, type Requirement, rows } from "./row.ts";

const ENDPOINTS = rows("spec 4, endpoints", {
  "http-send": main("POST /pushes/send takes the push as JSON."),
  "http-headers": main("The request carries X-API-Key and Content-Type: application/json."),
  "http-script": main("A script can send a push with the same request as the phone."),
  "http-no-stream": main("A message goes out over HTTP while no live stream is open."),
  "ws-persistent": main("The listener keeps one lasting connection and returns to it when it breaks."),
  "ws-push-new": main("The relay sends push.new for each push."),
  "ws-acts-on": main("The listener acts on agent.command alone."),
  "ws-sessions": main("The listener reports its inventory as listener.sessions."),
  "ws-sessions-stored": main("The relay acknowledges a report by storing it."),
});

const PROCEDURE = rows("spec 4, injection procedure", {
  "inj-1-name": main("First the session name is checked against the charset."),
  "inj-2-guard": main("Then the pane guard is asked."),
  "inj-3-rate": main("Then the session's rate limit is asked."),
  "inj-4-type": main("Then the body is typed with tmux send-keys -l into the session."),
  "inj-5-enter": main("Then Enter is sent."),
  "inj-6-marker": main("The injection's marker is recorded."),
});

const DISCOVERY = rows("spec 4, tmux socket discovery", {
  "sock-default": main("Discovery tries tmux's default location first."),
  "sock-tmpdir": main("Then it tries the per-user paths under $TMPDIR."),
  "sock-tmp": main("Then it tries /tmp/tmux-<uid>/."),
  "sock-lsof": main("Last it finds running tmux servers with lsof."),
  "sock-stale": main("A stale socket file does not stop discovery."),
  "sock-override": main("SVC_TMUX_SOCKET replaces discovery."),
});

const COMMANDS = rows("spec 4, command-line operations", {
  "cmd-agent": main("svc <agent> [args…] runs the agent in tmux by the wrapper."),
  "cmd-listener": main("svc listener runs the listener in the foreground and logs as listener.log does."),
  "cmd-restart": main("svc listener --restart restarts the daemon."),
  "cmd-verify": main("svc verify checks the set-up and warns while SVC_WS_URL is set."),
  "cmd-setup": agents("svc setup installs the agents' hooks and the stop hook's push."),
  "cmd-remote-hook": agents(
    "svc remote-hook <agent> is the hook's entry for the Gemini- and Codex-class agents.",
  ),
  "cmd-ps": main(
    "The daemon shows in ps as cli.js listener (cli.ts in a checkout), so that it can be found without its pid file.",
  ),
});

const AUTHENTICATION = rows("spec 5, authentication", {
  "auth-http": main("HTTP is authenticated by the API key in X-API-Key."),
  "auth-ws": main("The WebSocket is authenticated by the API key and needs the scope push:read."),
  "enc-default-off": main("Encryption of the relay is off by default: messages cross it readable."),
  "enc-public-key": mirror("With encryption on, the phone sends its device's public key when it subscribes."),
  "enc-envelope": mirror("With encryption on, every pane frame returns in a P-256 and AES-256-GCM envelope."),
  "enc-keys": mirror("Keystrokes are sealed for the listener with their sequence inside the ciphertext."),
  "enc-no-replay": mirror("The relay cannot replay a keystroke."),
  "enc-drop": mirror("A frame that fails to encrypt is dropped and never sent plain."),
  "enc-gap-rest": main("The documents name the gap that a message sent over HTTP is readable by the relay."),
  "enc-gap-active": main("The documents name the gap that base mode is secret from a passive relay only."),
  "auth-permission": main("The agent's own permission prompt stays in force: the phone cannot approve it."),
});

const EVENTS = rows("spec 6, events", {
  "ev-inject": main("Only an agent.command with session name and body leads to an injection."),
  "ev-report": main("listener.sessions is sent on a change or as the 30-second heartbeat."),
  "ev-hooks": agents("The agents' events UserPromptSubmit and BeforeAgent serve REMOTE mode."),
  "log-start": main(
    "The log's first line at a start is `[<time>] svc listener starting — v<version> — <ws address>`.",
  ),
  "log-reported": main("After a report the log says `[<time>] reported <n> session(s): <names>`."),
  "log-persisted": main(
    "After the relay stored it the log says `[<time>] ✓ server persisted <n> session(s)`.",
  ),
  "log-rejected": main("On failure the log says `! server rejected listener.sessions: <reason>`."),
  "log-reason": main("The reason of a rejected report points at its cause."),
});

const ERRORS = rows("spec 7, errors", {
  "err-shell": main(
    "Nothing is typed while bash, zsh, fish, sh, dash, ksh, tcsh, csh or pwsh runs in the pane.",
  ),
  "err-name": main("A session name outside the charset is no target and never reaches tmux's arguments."),
  "err-rate": main("Nothing is typed beyond the session's rate limit."),
  "err-ignored": main("A push that is no agent.command, or lacks name or body, types nothing."),
  "err-literal": main("Escape sequences and commands of tmux in a body are data."),
  "err-rejected": main("A report that the relay rejects shows in the listener's log."),
});

const LIMITS = rows("spec 8, limits", {
  "lim-rate": main("A session takes 30 injections a minute by a token bucket of its own."),
  "lim-poll": main("The inventory is polled every 5 seconds."),
  "lim-heartbeat": main("The heartbeat of an unchanged inventory comes every 30 seconds."),
  "lim-ask": agents("svc_ask, svc_prompt and svc_input wait for 120 to 600 seconds."),
  "lim-charset": main("Session names are of the charset [A-Za-z0-9._-]+."),
});

const VERSIONS = rows("spec 9, versioning", {
  "ver-written": main("The daemon writes its version to listener.version and into its first log line."),
  "ver-older": main("A wrapper newer than the daemon restarts it on the installed version."),
  "ver-newer": main("A wrapper older than the daemon leaves it alone."),
  "ver-upgrade": main("Upgrading the package on disk does not by itself replace a running daemon."),
  "ver-unknown-type": main(
    "A daemon answers a push type that it does not know as ignored instead of staying silent.",
  ),
});

export const SPEC_WIRE_ROWS: readonly Requirement[] = [
  ...ENDPOINTS,
  ...PROCEDURE,
  ...DISCOVERY,
  ...COMMANDS,
  ...AUTHENTICATION,
  ...EVENTS,
  ...ERRORS,
  ...LIMITS,
  ...VERSIONS,
];
