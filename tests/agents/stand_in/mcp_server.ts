/** An MCP server with one tool, which makes a file: agents ask for permission before they call it. */
import { createInterface } from "node:readline";
import process from "node:process";

export const MCP_NAME = "files";
export const MCP_TOOL = "make_file";

/** How an agent starts it. */
export const MCP_COMMAND: readonly string[] = [
  Deno.execPath(),
  "run",
  "-A",
  "--no-config",
  import.meta.filename ?? "",
];

const TOOLS = [{
  name: MCP_TOOL,
  description: "Makes an empty file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
}];

interface Request {
  id?: number | string;
  method: string;
  params?: { protocolVersion?: string; arguments?: { path: string } };
}

async function resultOf({ method, params }: Request): Promise<unknown> {
  switch (method) {
    case "initialize": {
      const { protocolVersion } = params ?? {};
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: MCP_NAME, version: "1" } };
    }
    case "tools/list":
      return { tools: TOOLS };
    case "tools/call":
      await Deno.writeTextFile(params?.arguments?.path ?? "", "");
      return { content: [{ type: "text", text: "made" }] };
    default:
      return {};
  }
}

if (import.meta.main) {
  for await (const line of createInterface({ input: process.stdin })) {
    const request: Request = JSON.parse(line);
    if (request.id === undefined) continue;
    const answer = { jsonrpc: "2.0", id: request.id, result: await resultOf(request) };
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}
