/** Claude Code with its onboarding done, in the mode that asks before a command runs. */
import { type Launch, LOOPBACK_ONLY, type SetupOptions, writeFiles } from "./setup.ts";

/** Not a real key: the stand-in accepts any. Claude identifies the approved key by its last twenty characters. */
const KEY = "stand-in-key-of-no-account-0123456789abcdef";

export async function setUpClaude({ home, project, url, asks }: SetupOptions): Promise<Launch> {
  await writeFiles(home, {
    ".claude.json": {
      hasCompletedOnboarding: asks !== "theme",
      theme: "dark",
      hasSeenAutoDefaultNotice: asks !== "auto_mode",
      hasSeenAutoDefaultNudge: asks !== "auto_mode",
      customApiKeyResponses: { approved: asks === "api_key" ? [] : [KEY.slice(-20)], rejected: [] },
      projects: asks === "trust" ? {} : { [project]: { hasTrustDialogAccepted: true } },
    },
    ".claude/settings.json": { permissions: { defaultMode: "default" } },
  });
  return {
    args: [],
    env: {
      ...LOOPBACK_ONLY,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY,
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  };
}
