/** OpenCode with one custom provider, which asks before every command. */
import { type Launch, LOOPBACK_ONLY, type SetupOptions, writeFiles } from "./setup.ts";

/**
 * If it has a plugin, OpenCode fetches its plugin package before it shows anything, unless this lock file says that it
 * was fetched.
 */
const FETCHED = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } };

export async function setUpOpenCode({ home, url }: SetupOptions): Promise<Launch> {
  await writeFiles(home, {
    ".config/opencode/node_modules/.keep": "",
    ".config/opencode/package-lock.json": FETCHED,
    ".config/opencode/opencode.json": {
      model: "standin/stand-in",
      small_model: "standin/stand-in",
      autoupdate: false,
      share: "disabled",
      permission: { bash: "ask" },
      provider: {
        standin: {
          npm: "@ai-sdk/openai-compatible",
          name: "stand-in",
          options: { baseURL: `${url}/v1`, apiKey: "stand-in-key" },
          models: { "stand-in": { name: "stand-in", tool_call: true } },
        },
      },
    },
  });
  return {
    args: [],
    env: {
      ...LOOPBACK_ONLY,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    },
  };
}
