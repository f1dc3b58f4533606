/** Checks which agents are installed, and in which versions. */
import * as z from "zod/mini";
import { agentProfile, isNewerThanMeasured } from "../../../agents/profiles.ts";
import { SETUP_KINDS } from "../../../agents/registry.ts";
import type { SetupHost } from "../../../hooks/setup/install.ts";
import { AGENT_LABELS, type AgentKind } from "../../../protocol/names.ts";
import { parseJson } from "../../../protocol/json.ts";
import type { Commands, Files } from "../../../runtime/types.ts";
import { type Check, type Finding, ok, warning } from "../check.ts";

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

/** Warns about agents that are newer than their profiles. */
export function versionCheck(host: SetupHost, here: readonly AgentKind[]): Check {
  return {
    name: "agents, versions",
    async run() {
      const versions = await Promise.all(here.map((kind) => installedVersion(host, kind)));
      return judgeVersions(here.map((kind, at) => ({ kind, version: versions[at] })));
    },
  };
}

export function judgeVersions(
  found: readonly { kind: AgentKind; version: string | undefined }[],
): Finding {
  const newer = found.filter(({ kind, version }) =>
    isNewerThanMeasured(version, agentProfile(kind).measuredVersion)
  );
  if (newer.length === 0) return ok("none is newer than the version that svc was tested with");
  const each = newer.map(({ kind, version }) =>
    `${AGENT_LABELS[kind]} ${version} is newer than ${agentProfile(kind).measuredVersion}`
  );
  return warning(
    `${each.join(", ")}: messages and keys are refused on screens that svc no longer recognizes`,
    `run: svc agents check ${newer.map(({ kind }) => kind).join(" ")}`,
  );
}

/** The version of the agent that PATH finds, without running it. */
export async function installedVersion(
  { files, commands }: { files: Pick<Files, "readText" | "realPath">; commands: Pick<Commands, "which"> },
  kind: AgentKind,
): Promise<string | undefined> {
  const program = await commands.which(agentProfile(kind).binary);
  const path = program && await files.realPath(program);
  return path ? await versionAt(files, path) : undefined;
}

async function withVersion(host: SetupHost, kind: AgentKind): Promise<string> {
  const version = await installedVersion(host, kind);
  return version ? `${AGENT_LABELS[kind]} ${version}` : AGENT_LABELS[kind];
}

/** Read from the program's location. Asking the program takes seconds for some agents, and makes them unpack and write files at their first start. */
export async function versionAt(files: Pick<Files, "readText">, path: string): Promise<string | undefined> {
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (folder === undefined) return path.split("/").slice(-2).find((name) => /^\d+\.\d+\.\d/.test(name));
  const about = Package.safeParse(parseJson(await files.readText(`${folder}/package.json`) ?? "")?.value);
  return about.data?.version;
}
