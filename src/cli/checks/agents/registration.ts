/** Reads from an agent's own configuration what it runs of svc: the command of its hook and that of its MCP server. */
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { loadHooks } from "../../../agents/registry.ts";
import { type FileEdit, type JsonEdit, MCP_SERVER, runsSvcHook } from "../../../agents/setup.ts";
import { pathInUse, type SetupHost, setupOf } from "../../../hooks/setup/install.ts";
import type { AgentKind } from "../../../protocol/names.ts";
import { shellQuote } from "../../../runtime/system.ts";

export interface Registration {
  /** A shell command line, as the agent runs it. */
  hook: string | undefined;
  mcp: readonly string[] | undefined;
  /** What the agent adds to its environment for both. */
  env: Readonly<Record<string, string>>;
}

/** Throws Error when a file does not have its format. */
export async function readRegistration(host: SetupHost, kind: AgentKind): Promise<Registration> {
  const found: Partial<Registration>[] = [];
  const [{ files }, hooks] = await Promise.all([setupOf(host, kind), loadHooks(kind)]);
  const agent = { kind, promptEvent: hooks?.promptEvent };
  for (const edit of files) {
    const text = await host.files.readText(await pathInUse(host.files, edit.paths));
    if (text !== undefined) {
      found.push(kind === "cc" ? await inPlugin(host, text) : inFile(edit, text, agent));
    }
  }
  const hook = found.find((one) => one.hook !== undefined)?.hook;
  const mcp = found.find((one) => one.mcp !== undefined)?.mcp;
  return { hook, mcp, env: Object.assign({}, ...found.map(({ env }) => env)) };
}

interface Agent {
  kind: AgentKind;
  promptEvent: string | undefined;
}

function inFile(edit: FileEdit, text: string, agent: Agent): Partial<Registration> {
  switch (edit.form) {
    case "json":
      return inJson(edit, text, agent);
    case "toml":
      return { mcp: argvOf(valueAt(parseToml(text), edit.table)) };
    case "own":
      return { hook: inOwnFile(text, agent.kind) };
  }
}

function inJson(
  { set = [], append = [] }: JsonEdit,
  text: string,
  { promptEvent }: Agent,
): Partial<Registration> {
  const root: unknown = parseJsonc(text, [], { allowTrailingComma: true });
  const hooks = append.filter(({ at }) => at[0] === "hooks");
  const list = hooks.find(({ at }) => at[1] === promptEvent) ?? hooks[0];
  const server = set.find(({ at }) => at.at(-1) === MCP_SERVER);
  return {
    hook: list && hookIn(valueAt(root, list.at)),
    mcp: server && argvOf(valueAt(root, server.at)),
  };
}

/** Finds svc's hook among an event's entries, each of which is a hook or a group of hooks. */
function hookIn(list: unknown): string | undefined {
  const entries: unknown[] = Array.isArray(list) ? list : [];
  const hooks = entries.flatMap((entry) => valueAt(entry, ["hooks"]) ?? entry);
  const ours = hooks.find(runsSvcHook);
  const command = valueAt(ours, ["command"]) ?? valueAt(ours, ["bash"]);
  return typeof command === "string" ? command : undefined;
}

/** The program and its arguments are in one list or in two fields. */
function argvOf(server: unknown): string[] | undefined {
  const argv = [valueAt(server, ["command"]), valueAt(server, ["args"])].flat().filter(isText);
  return argv.length > 0 ? argv : undefined;
}

/** The plugin starts the launcher without a shell. */
function inOwnFile(text: string, kind: AgentKind): string | undefined {
  const launcher = /^const LAUNCHER = "(.*)";$/m.exec(text)?.[1];
  return launcher && `${shellQuote(String(JSON.parse(`"${launcher}"`)))} remote-hook ${kind}`;
}

/** The primary agent reads the plugin from where its settings point. */
async function inPlugin({ files }: SetupHost, settings: string): Promise<Partial<Registration>> {
  const root: unknown = parseJsonc(settings, [], { allowTrailingComma: true });
  const market = valueAt(root, ["extraKnownMarketplaces", "svc-market", "source", "path"]);
  const isEnabled = valueAt(root, ["enabledPlugins", "svc@svc-market"]) === true;
  if (!isEnabled || !isText(market)) return {};
  const plugin = `${market}/svc`;
  const read = async (name: string): Promise<unknown> =>
    parseJsonc(await files.readText(`${plugin}/${name}`) ?? "{}");
  const [hooks, mcp] = await Promise.all([read("hooks/hooks.json"), read(".mcp.json")]);
  const filled = (text: string): string => text.replaceAll("${CLAUDE_PLUGIN_ROOT}", plugin);
  const hook = valueAt(hooks, ["hooks", "UserPromptSubmit", "0", "hooks", "0", "command"]);
  return {
    hook: isText(hook) ? hook : undefined,
    mcp: argvOf(valueAt(mcp, ["mcpServers", MCP_SERVER]))?.map(filled),
    env: { CLAUDE_PLUGIN_ROOT: plugin },
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? Reflect.get(value, name)
        : undefined,
    root,
  );
}
