/** Copilot CLI offline, with a custom provider instead of a GitHub account. */
import { type Launch, LOOPBACK_ONLY, type SetupOptions, writeFiles } from "./setup.ts";

export async function setUpCopilot({ home, project, url, asks }: SetupOptions): Promise<Launch> {
  const folders = { trustedFolders: asks === "trust" ? [] : [project] };
  await writeFiles(home, { ".copilot/config.json": folders, ".copilot/settings.json": folders });
  return {
    args: [],
    env: {
      ...LOOPBACK_ONLY,
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: "stand-in-key",
      COPILOT_MODEL: "gpt-5.4",
    },
  };
}
