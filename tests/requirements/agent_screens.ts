/** What docs/agents.md promises of the agents' screens: how they are read, and what happens when they change. */
import { agents, type Requirement, rows } from "./row.ts";

const READING = rows("docs/agents.md, How a screen is read", {
  "read-positive": agents(
    "The composer is reported only where its frame, its footer and the cursor are as the agent draws them; an editor that shows a copy is unknown.",
  ),
  "read-spoofed": agents(
    "What an agent prints, a command that it asks about included, never passes for its composer.",
  ),
  "read-menus": agents("A harmless screen is reported by name, with the keys and the text that it takes."),
  "read-linear": agents(
    "Reading costs work in proportion to the screen, whatever it shows, and a screen beyond the cap is not read.",
  ),
  "read-unrecorded": agents("A known agent in a pane that no wrapper made is recognized by its program."),
});

const KEYS = rows("docs/agents.md, Keys and commands", {
  "agent-keys": agents(
    "Each profile lists the keys that do something else in that agent, and those that open a menu.",
  ),
  "agent-commands": agents(
    "Each profile lists the slash commands that change no approval and open no other program.",
  ),
});

const VERSIONS = rows("docs/agents.md, When an agent has a new version", {
  "agent-versions": agents("svc verify warns of an agent that is newer than the version it was measured on."),
  "agents-check": agents(
    "svc agents check runs the installed agents and prints which screens are recognized; it exits 1 when one is not.",
  ),
  "agents-record": agents(
    "svc agents record saves a session's screen as a fixture without the user's words.",
  ),
});

export const AGENT_SCREEN_ROWS: readonly Requirement[] = [...READING, ...KEYS, ...VERSIONS];
