/** The version of an agent that runs: from the package that its program belongs to, else from its path. */
import { parseVersion } from "../agents/version.ts";
import { parseJson } from "../protocol/json.ts";
import type { ProcessHost } from "./process_facts.ts";

/** Folders above a program in which its package may stand. */
const FOLDERS_ABOVE_MAX = 6;
const SCRIPT = /\.(?:c|m)?js$/;
/** Packages of the agents, as npm names them. */
const AGENT_PACKAGE =
  /^(?:@anthropic-ai\/claude-code|@openai\/codex|@google\/gemini-cli|opencode-ai|@github\/copilot)/;

/** Undefined where nothing shows it, and on systems without /proc. */
export async function runningVersion(
  pid: number,
  { files, platform }: Pick<ProcessHost, "files" | "platform">,
): Promise<string | undefined> {
  if (platform !== "linux") return undefined;
  const words = (await files.readText(`/proc/${pid}/cmdline`).catch(() => undefined) ?? "").split("\0");
  const program = await files.readLink(`/proc/${pid}/exe`).catch(() => undefined);
  const script = words.slice(1).find((word) =>
    !word.startsWith("-") && (SCRIPT.test(word) || word.includes("/bin/"))
  );
  for (const path of [script, program]) {
    const version = path === undefined ? undefined : await versionAt(path, files);
    if (version !== undefined) return version;
  }
  return undefined;
}

async function versionAt(path: string, files: ProcessHost["files"]): Promise<string | undefined> {
  const real = await files.readLink(path).then((target) =>
    target === undefined ? path : new URL(target, `file://${path}`).pathname
  ).catch(() => path);
  const parts = real.split("/");
  for (let above = 1; above <= FOLDERS_ABOVE_MAX && above < parts.length; above++) {
    const text = await files.readText(`${parts.slice(0, -above).join("/")}/package.json`).catch(() =>
      undefined
    );
    const content = text === undefined ? undefined : parseJson(text)?.value;
    if (typeof content !== "object" || content === null || !("name" in content) || !("version" in content)) {
      continue;
    }
    if (AGENT_PACKAGE.test(String(content.name))) return parseVersion(String(content.version));
  }
  const inPath = parts.findLast((part) => /^\d+\.\d+\.\d+/.test(part));
  return inPath === undefined ? undefined : parseVersion(inPath);
}
