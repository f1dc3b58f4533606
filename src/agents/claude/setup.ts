/** Agent 1, the primary agent: hooks and MCP tools come with the plugin in `plugin/`. */
import { type AgentSetup, MCP_SERVER, MCP_TOOLS, type SetupContext } from "../setup.ts";

/** The names in plugin/.claude-plugin/marketplace.json and plugin/svc/.claude-plugin/plugin.json. */
const MARKET = "svc-market";
const PLUGIN = "svc";

export function setUp({ home, env, plugin }: SetupContext): AgentSetup {
  const directory = env.CLAUDE_CONFIG_DIR || `${home}/.claude`;
  const tools = MCP_TOOLS.map((tool) => `mcp__plugin_${PLUGIN}_${MCP_SERVER}__${tool}`);
  return {
    files: [{
      form: "json",
      paths: [`${directory}/settings.json`],
      set: [
        {
          at: ["extraKnownMarketplaces", MARKET],
          value: { source: { source: "directory", path: plugin } },
        },
        { at: ["enabledPlugins", `${PLUGIN}@${MARKET}`], value: true },
      ],
      append: [{ at: ["permissions", "allow"], values: tools }],
    }],
    backgroundEvents: ["PostToolUse", "PostToolUseFailure"],
    trusts: [
      `the plugin in "${plugin}": its hooks run, also before and after each tool call, and its MCP server starts, with every session`,
      `its tools ${MCP_TOOLS.join(", ")} run without asking`,
    ],
    notes: [],
  };
}
