/** The table of commands: what `svc --help` lists, and where each is loaded from when it is called. */

/** A file under `src/cli/`. `run` takes the words after the command and resolves with the exit code. */
export interface CommandModule {
  run(args: readonly string[]): Promise<number>;
}

export interface CommandEntry {
  /** One line for `svc --help`; undefined for a command that only svc itself calls. */
  summary: string | undefined;
  /** Loaded only when the command is called: deno.json switches on `lazy-dynamic-imports`. */
  load(): Promise<CommandModule>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  up: {
    summary: "start relay and listener here, and show the link for the phone",
    load: () => import("./up.ts"),
  },
  server: {
    summary: "run the relay; server backup FILE copies its store",
    load: () => import("./server.ts"),
  },
  pair: {
    summary: "pair one phone: print its link and QR code, and wait for it",
    load: () => import("./pair.ts"),
  },
  devices: {
    summary: "list the account's devices; devices revoke ID locks one out",
    load: () => import("./devices.ts"),
  },
  keys: {
    summary: "create, list and revoke API keys",
    load: () => import("./keys.ts"),
  },
  listener: {
    summary: "run the listener here; --restart or --stop the daemon",
    load: () => import("./listener.ts"),
  },
  sessions: {
    summary: "list the sessions that a phone can reach",
    load: () => import("./sessions.ts"),
  },
  send: {
    summary: "type a message into a session, and follow what becomes of it",
    load: () => import("./send.ts"),
  },
  status: {
    summary: "show listener, relay and sessions on one screen",
    load: () => import("./status.ts"),
  },
  logs: {
    summary: "show the listener's log, or the audit of remote input",
    load: () => import("./logs.ts"),
  },
  verify: {
    summary: "check the setup, and say how to mend it",
    load: () => import("./verify.ts"),
  },
  agents: {
    summary: "check that svc recognizes the agents' screens, or record one",
    load: () => import("./agents.ts"),
  },
  "remote-hook": {
    summary: "what an agent's prompt hook runs: tells the model who drives",
    load: () => import("./remote_hook.ts"),
  },
  hook: {
    summary: "what an agent's other hooks run: reports to the listener",
    load: () => import("./hook.ts"),
  },
  setup: {
    summary: "register svc's hooks and tools in the agents; --remove undoes it",
    load: () => import("./setup.ts"),
  },
  mute: {
    summary: "silence a project: no remote mode, no messages",
    load: () => import("./mute.ts"),
  },
  unmute: {
    summary: "undo mute",
    load: () => import("./unmute.ts"),
  },
  mcp: {
    summary: "the MCP server on stdio, which agents start: svc_ask and its like",
    load: () => import("./mcp.ts"),
  },
  completions: {
    summary: "print the completion script for bash, zsh or fish",
    load: () => import("./completions.ts"),
  },
  "echo-agent": { summary: undefined, load: () => import("./echo_agent.ts") },
};
