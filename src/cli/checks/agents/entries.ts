/** Checks that what agents and services start still exists, and that it is this svc. */
import { runtime } from "#runtime";
import { errorText } from "../../../async/error_text.ts";
import { commandOf } from "../../../hooks/setup/launcher.ts";
import type { SetupHost } from "../../../hooks/setup/install.ts";
import { AGENT_LABELS, type AgentKind } from "../../../protocol/names.ts";
import { shellLine } from "../../installation.ts";
import { servicesToMend } from "../../service/state.ts";
import { type Check, fault, type Finding, ok, warning } from "../check.ts";

const SET_UP = "run: svc setup";

/** The launcher, which the entries of all agents run. */
export function launcherCheck({ files, paths }: SetupHost): Check {
  return {
    name: "hooks and tools",
    async run() {
      const text = await files.readText(paths.launcher);
      if (text === undefined) return ok("svc setup has not been run");
      const command = commandOf(text);
      if (command === undefined) return warning(`"${paths.launcher}" is not as svc setup wrote it`, SET_UP);
      const gone = await missingFile(command);
      if (gone !== undefined) {
        return fault(`"${paths.launcher}" runs "${gone}", which no longer exists`, SET_UP);
      }
      return judgeCommand(command, runtime.selfCommand());
    },
  };
}

export function judgeCommand(command: readonly string[], own: readonly string[]): Finding {
  const isSame = command.length === own.length && command.every((word, at) => word === own[at]);
  if (isSame) return ok("agents run this svc");
  return warning(
    `agents run another svc, "${shellLine(command)}"; this one is "${shellLine(own)}"`,
    `${SET_UP}, with the svc that they are to run`,
  );
}

/** What an agent's files name. */
interface AgentEntries {
  /** A shell command line. */
  hook: string | undefined;
  mcp: readonly string[] | undefined;
  /** The folder of plugins. */
  plugin?: string | undefined;
}

/** What is wrong with where an agent's entries point; undefined when they run this account's launcher. */
export async function entryFault(
  host: SetupHost,
  kind: AgentKind,
  { hook, mcp, plugin }: AgentEntries,
): Promise<Finding | undefined> {
  const fix = `${SET_UP} --agent ${kind}`;
  const label = AGENT_LABELS[kind];
  if (plugin !== undefined && plugin !== host.plugin) {
    const isThere = await host.files.info(plugin) !== undefined;
    return isThere
      ? warning(`${label} uses the plugin of another svc, "${plugin}"; this one's is "${host.plugin}"`, fix)
      : fault(`${label} uses the plugin in "${plugin}", which no longer exists`, fix);
  }
  const entries = { hook: hook === undefined ? [] : pathsIn(hook), "MCP entry": mcp ?? [] };
  for (const [what, words] of Object.entries(entries)) {
    const gone = await missingFile(words);
    if (gone !== undefined) return fault(`its ${what} runs "${gone}", which no longer exists`, fix);
    const other = words.find((word) => word.endsWith("/bin/svc") && word !== host.paths.launcher);
    if (other !== undefined) {
      return warning(`its ${what} runs another svc, "${other}"; this one's is "${host.paths.launcher}"`, fix);
    }
  }
  return undefined;
}

/** The absolute paths in a shell command line. */
function pathsIn(line: string): string[] {
  const words = line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  return Array.from(words, ([, single, double, plain]) => single ?? double ?? plain ?? "");
}

async function missingFile(words: readonly string[]): Promise<string | undefined> {
  for (const word of words) {
    if (word.startsWith("/") && await runtime.files.info(word) === undefined) return word;
  }
  return undefined;
}

export const servicesCheck: Check = {
  name: "services",
  async run() {
    try {
      const [first] = await servicesToMend();
      if (first === undefined) return ok("none starts a file that is gone, or another svc");
      const { service, missing, other, install } = first;
      return missing === null
        ? warning(`the ${service}'s service starts another svc: ${other}`, `to use this one, run: ${install}`)
        : fault(`the ${service}'s service starts "${missing}", which no longer exists`, `run: ${install}`);
    } catch (error) {
      return warning(`not checked: ${errorText(error)}`, "see: svc service status");
    }
  },
};
