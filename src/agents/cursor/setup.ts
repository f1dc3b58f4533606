/** The Cursor-class agent: the MCP server, and the editor's stop hook. */
import {
  type AgentSetup,
  type FinishHost,
  type FinishResult,
  MCP_SERVER,
  type SetupContext,
  ungatedHookCommand,
} from "../setup.ts";

const PROBE_LIMIT_MS = 20_000;

export function setUp({ home, launcher }: SetupContext): AgentSetup {
  const directory = `${home}/.cursor`;
  return {
    trace: directory,
    files: [{
      // A single event name that Cursor does not know would invalidate the user's whole file: only `stop` is safe.
      form: "json",
      paths: [`${directory}/hooks.json`],
      initial: { version: 1 },
      append: [{
        at: ["hooks", "stop"],
        values: [{ command: ungatedHookCommand(launcher, "cursor", "stop") }],
      }],
    }, {
      form: "json",
      paths: [`${directory}/mcp.json`],
      set: [{ at: ["mcpServers", MCP_SERVER], value: { command: launcher, args: ["mcp"] } }],
    }, {
      // Cursor creates this file itself, and rejects one that lacks fields.
      form: "json",
      paths: [`${directory}/cli-config.json`],
      initial: null,
      append: [{ at: ["permissions", "allow"], values: [`Mcp(${MCP_SERVER}:*)`] }],
    }],
    trusts: [`the editor's hook at stop, which runs "${launcher}", and the MCP server svc`],
    notes: [
      "The terminal agent reports nothing to svc, and svc cannot inform it that you drive from the phone: ask it once per session to end every response with svc_ask.",
      "The stop hook works only in the editor; in a terminal ask the agent to use svc_notify instead.",
    ],
    finish: probe,
  };
}

/** The plain list shows only approved servers, so svc's server is listed by name. */
async function probe({ commands, program, cwd, env }: FinishHost): Promise<FinishResult> {
  if (program === undefined) {
    return { isOk: true, notes: ["The editor is installed, but its terminal agent cursor-agent is not."] };
  }
  const signal = AbortSignal.timeout(PROBE_LIMIT_MS);
  const listed = await commands.run([program, "mcp", "list-tools", MCP_SERVER], {
    cwd,
    env: { ...env },
    signal,
  });
  const isListed = listed.code === 0 && new TextDecoder().decode(listed.stdout).includes("svc_ask");
  return isListed
    ? { isOk: true, notes: [`Found: "${program} mcp list-tools ${MCP_SERVER}" lists its tools.`] }
    : {
      isOk: true,
      notes: [`Found: the MCP server is not approved yet. Run: ${program} mcp enable ${MCP_SERVER}`],
    };
}
