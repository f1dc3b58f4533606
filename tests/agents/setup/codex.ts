/** Codex with a custom provider, without its background server and update check. */
import { type Launch, LOOPBACK_ONLY, type SetupOptions, writeFiles } from "./setup.ts";

export async function setUpCodex({ home, project, url, asks }: SetupOptions): Promise<Launch> {
  const config = [
    'model = "stand-in"',
    'model_provider = "stand_in"',
    // With either of these set, Codex does not ask whether the folder is trusted.
    ...(asks !== "trust" ? ['approval_policy = "on-request"', 'sandbox_mode = "read-only"'] : []),
    "check_for_update_on_startup = false",
    "[analytics]",
    "enabled = false",
    "[model_providers.stand_in]",
    'name = "stand-in"',
    `base_url = "${url}/v1"`,
    'wire_api = "responses"',
    ...(asks !== "trust" ? [`[projects."${project}"]`, 'trust_level = "trusted"'] : []),
  ];
  const hook = { hooks: [{ type: "command", command: "/bin/true" }] };
  if (asks === "hooks_review") {
    await writeFiles(home, { ".codex/hooks.json": { hooks: { UserPromptSubmit: [hook] } } });
  }
  await writeFiles(home, { ".codex/config.toml": `${config.join("\n")}\n` });
  return {
    args: ["--disable", "daemon_auto_start"],
    env: { ...LOOPBACK_ONLY, CODEX_HOME: `${home}/.codex` },
  };
}
