/** Installs the real agents from npm, at the fixtures' versions, each in its own folder. */
import { fileURLToPath } from "node:url";

export const REAL_AGENTS = {
  cc: { package: "@anthropic-ai/claude-code", version: "2.1.329", binary: "claude" },
  codex: { package: "@openai/codex", version: "0.169.0", binary: "codex" },
  gemini: { package: "@google/gemini-cli", version: "0.61.0", binary: "gemini" },
  opencode: { package: "opencode-ai", version: "1.18.33", binary: "opencode" },
  copilot: { package: "@github/copilot", version: "1.0.102", binary: "copilot" },
} as const;

export type RealAgent = keyof typeof REAL_AGENTS;

const CACHE = fileURLToPath(new URL("../../.cache/agents/", import.meta.url));

async function installedVersion(folder: string, packageName: string): Promise<string | undefined> {
  try {
    const text = await Deno.readTextFile(`${folder}/node_modules/${packageName}/package.json`);
    return JSON.parse(text).version;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Resolves with the path of the agent's program; installs the pinned version from npm if it is missing. */
export async function installAgent(kind: RealAgent): Promise<string> {
  const { package: name, version, binary } = REAL_AGENTS[kind];
  const folder = `${CACHE}${kind}`;
  if (await installedVersion(folder, name) !== version) {
    await Deno.mkdir(folder, { recursive: true });
    const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", `${name}@${version}`];
    const { success, stderr } = await new Deno.Command("npm", { args, stdout: "null" }).output();
    if (!success) {
      throw new Error(`cannot install "${name}@${version}": npm said ${new TextDecoder().decode(stderr)}`);
    }
  }
  return `${folder}/node_modules/.bin/${binary}`;
}
