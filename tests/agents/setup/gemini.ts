/** Gemini CLI with key sign-in chosen and its usage statistics off. */
import { type Launch, LOOPBACK_ONLY, type SetupOptions, writeFiles } from "./setup.ts";

export async function setUpGemini({ home, project, url, asks }: SetupOptions): Promise<Launch> {
  await writeFiles(home, {
    ".gemini/settings.json": {
      security: {
        auth: asks === "sign_in" ? {} : { selectedType: "gemini-api-key" },
        folderTrust: { enabled: true },
      },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
      ui: { hideTips: true },
      model: { name: "gemini-2.5-pro" },
    },
    ".gemini/trustedFolders.json": asks === "trust" ? {} : { [project]: "TRUST_FOLDER" },
  });
  return {
    args: [],
    env: {
      ...LOOPBACK_ONLY,
      GOOGLE_GEMINI_BASE_URL: url,
      ...(asks === "sign_in" ? {} : { GEMINI_API_KEY: "stand-in-key" }),
    },
  };
}
