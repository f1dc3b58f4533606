/** Gemini CLI with key sign-in chosen and its usage statistics off. */
import { type Launch, LOOPBACK_ONLY, type SetupOptions, writeFiles } from "./setup.ts";

export async function setUpGemini({ home, project, url, trusted }: SetupOptions): Promise<Launch> {
  await writeFiles(home, {
    ".gemini/settings.json": {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: true } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
      ui: { hideTips: true },
      model: { name: "gemini-2.5-pro" },
    },
    ".gemini/trustedFolders.json": trusted ? { [project]: "TRUST_FOLDER" } : {},
  });
  return {
    args: [],
    env: { ...LOOPBACK_ONLY, GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "stand-in-key" },
  };
}
