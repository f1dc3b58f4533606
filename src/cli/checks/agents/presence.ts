/** Says which agents are here, and in which version. */
import * as z from "zod/mini";
import { agentProfile } from "../../../agents/registry.ts";
import { SETUP_KINDS } from "../../../agents/setup/registry.ts";
import type { SetupHost } from "../../../hooks/setup/types.ts";
import { AGENT_LABELS, type AgentKind } from "../../../protocol/names.ts";
import { parseJson } from "../../../protocol/json.ts";
import type { Files } from "../../../runtime/types.ts";
import { type Check, ok } from "../check.ts";

const Package = z.object({ version: z.string() });

export function presenceCheck(host: SetupHost, here: readonly AgentKind[]): Check {
  const absent = SETUP_KINDS.filter((kind) => !here.includes(kind)).map((kind) => AGENT_LABELS[kind]);
  return {
    name: "agents",
    async run() {
      const found = await Promise.all(here.map((kind) => withVersion(host, kind)));
      const all = found.join(", ") || "none";
      return ok(absent.length === 0 ? all : `${all}; not installed: ${absent.join(", ")}`);
    },
  };
}

async function withVersion({ files, commands }: SetupHost, kind: AgentKind): Promise<string> {
  const program = await commands.which(agentProfile(kind).binary);
  const path = program && await files.realPath(program);
  const version = path && await versionAt(files, path);
  return version ? `${AGENT_LABELS[kind]} ${version}` : AGENT_LABELS[kind];
}

/** By where the program lies. Asking it takes some agents seconds, and makes them unpack and write at their first start. */
export async function versionAt(files: Pick<Files, "readText">, path: string): Promise<string | undefined> {
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (folder === undefined) return path.split("/").slice(-2).find((name) => /^\d+\.\d+\.\d/.test(name));
  const about = Package.safeParse(parseJson(await files.readText(`${folder}/package.json`) ?? "")?.value);
  return about.data?.version;
}
