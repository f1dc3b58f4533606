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
      // One name of an event that Cursor does not know would void the person's whole file: only `stop` stands here.
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
      // Cursor makes this file whole; a part of it made by another would be refused.
      form: "json",
      paths: [`${directory}/cli-config.json`],
      initial: null,
      append: [{ at: ["permissions", "allow"], values: [`Mcp(${MCP_SERVER}:*)`] }],
    }],
    trusts: [`the editor's hook at stop, which runs "${launcher}", and the MCP server svc`],
    notes: [
      "The terminal agent tells svc nothing and cannot be told that you drive from the phone: ask it once per session to end every response with svc_ask.",
      "The stop hook is the editor's; in a terminal ask the agent for svc_notify instead.",
    ],
    finish: probe,
  };
}

/** Its plain list shows approved servers only: the one that counts is asked for by name. */
async function probe({ commands, program, cwd, env }: FinishHost): Promise<FinishResult> {
  if (program === undefined) {
    return { isOk: true, notes: ["The editor is there, its terminal agent cursor-agent is not."] };
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
