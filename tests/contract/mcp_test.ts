/** The MCP server through the protocol's own client, in Deno and in Node. */
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("mcp", import.meta.resolve("./mcp_cases.ts"));
