/** How agents' screens are read, and what happens when an agent changes. */
import { agents, type Requirement, rows } from "./row.ts";

const HOW_A_SCREEN_IS_READ = rows("docs/agents.md, How a screen is read", {
  "read-positive": agents(
    "The composer is reported only where its frame, its footer and the cursor are as the agent draws them; an editor that shows a copy of it is unknown.",
  ),
  "read-spoofed": agents(
    "An agent's output, including a command that it asks about, is never taken for its composer.",
  ),
  "read-menus": agents("A harmless screen is reported by name, with the keys and the text that it accepts."),
  "read-linear": agents(
    "Reading a screen costs work in proportion to its size, whatever it shows, and a screen over the limit is not read.",
  ),
  "read-unrecorded": agents("A known agent in a pane that no wrapper created is recognized by its program."),
});

const KEYS_AND_COMMANDS = rows("docs/agents.md, Keys and commands", {
  "agent-keys": agents(
    "Each profile lists the keys that do something else in that agent, and those that open a menu.",
  ),
  "agent-commands": agents(
    "Each profile lists the slash commands that change no approval and open no other program.",
  ),
});

const WHEN_AN_AGENT_HAS_A_NEW_VERSION = rows("docs/agents.md, When an agent has a new version", {
  "agent-versions": agents("svc verify warns of an agent that is newer than the version it was measured on."),
  "agents-check": agents(
    "svc agents check runs the installed agents, prints which screens are recognized, and exits 1 when one is not.",
  ),
  "agents-record": agents("svc agents record saves a session's screen as a fixture without the user's text."),
});

export const AGENT_SCREEN_ROWS: readonly Requirement[] = [
  ...HOW_A_SCREEN_IS_READ,
  ...KEYS_AND_COMMANDS,
  ...WHEN_AN_AGENT_HAS_A_NEW_VERSION,
];
