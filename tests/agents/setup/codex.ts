/** Codex with a provider of its own, its background server off, and no update check. */
import { type Launch, LOOPBACK_ONLY, type SetupOptions, writeFiles } from "./setup.ts";

export async function setUpCodex({ home, project, url, trusted }: SetupOptions): Promise<Launch> {
  const config = [
    'model = "stand-in"',
    'model_provider = "stand_in"',
    // With either of these set, Codex does not ask whether the folder is trusted.
    ...(trusted ? ['approval_policy = "on-request"', 'sandbox_mode = "read-only"'] : []),
    "check_for_update_on_startup = false",
    "[analytics]",
    "enabled = false",
    "[model_providers.stand_in]",
    'name = "stand-in"',
    `base_url = "${url}/v1"`,
    'wire_api = "responses"',
    ...(trusted ? [`[projects."${project}"]`, 'trust_level = "trusted"'] : []),
  ];
  await writeFiles(home, { ".codex/config.toml": `${config.join("\n")}\n` });
  return {
    args: ["--disable", "daemon_auto_start"],
    env: { ...LOOPBACK_ONLY, CODEX_HOME: `${home}/.codex` },
  };
}
