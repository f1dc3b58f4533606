/** OpenCode: a plugin in OpenCode's own format reports to svc. */
import { type AgentSetup, MCP_SERVER, MCP_TOOLS, type SetupContext, TOOL_LIMIT_MS } from "../setup.ts";

export function setUp({ home, env, launcher, plugin }: SetupContext): AgentSetup {
  const directory = env.OPENCODE_CONFIG_DIR || `${env.XDG_CONFIG_HOME || `${home}/.config`}/opencode`;
  const pluginFile = `${directory}/plugin/svc.js`;
  return {
    files: [
      { form: "own", paths: [pluginFile], source: `${plugin}/opencode/svc.js` },
      {
        form: "json",
        paths: [`${directory}/opencode.json`, `${directory}/opencode.jsonc`],
        set: [{
          at: ["mcp", MCP_SERVER],
          value: { type: "local", command: [launcher, "mcp"], enabled: true, timeout: TOOL_LIMIT_MS },
        }],
      },
    ],
    trusts: [
      `the plugin "${pluginFile}": it sees every prompt and tool call, and runs "${launcher}"`,
      `the MCP server svc: OpenCode runs its tools ${MCP_TOOLS.join(", ")} without asking`,
    ],
    notes: [],
  };
}
