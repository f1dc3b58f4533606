/** Binds what tells the phones of hooks' news to the relay and the home. */
import { runtime } from "#runtime";
import { toBodyText } from "../agents/body_text.ts";
import { loadHooks } from "../agents/registry.ts";
import { createRelayApi } from "../client/api.ts";
import { systemClock } from "../async/clock.ts";
import { ensureHookId } from "../home/config.ts";
import { isMuted, loadMuted } from "../home/muted.ts";
import type { HomePaths } from "../home/paths.ts";
import { sealedKeys, toldSealing } from "../home/host_sealing.ts";
import { HookNotifier } from "../listener/hook_notifier.ts";
import { isAgentKind } from "../protocol/names.ts";
import { pairingHost } from "./settings.ts";

/** A longer transcript is not read. */
const TRANSCRIPT_MAX_BYTES = 64_000_000;

export async function makeHookNotifier(
  paths: HomePaths,
  options: { baseUrl: string; apiKey: string; log(line: string): void },
): Promise<HookNotifier> {
  const { files } = runtime;
  const api = createRelayApi(options);
  const sealing = toldSealing(sealedKeys(await pairingHost(paths, api)));
  return new HookNotifier({
    clock: systemClock,
    send: (push, given) => api.sendPush(push, given),
    seal: (push, shown) => sealing.seal(push, shown),
    hookId: () => ensureHookId(files, paths),
    isMuted: async (directory) =>
      isMuted(await loadMuted(files, paths), await files.realPath(directory) ?? directory),
    lastWords,
    log: options.log,
  });
}

async function lastWords(agent: string, transcript: string): Promise<string | undefined> {
  const { files } = runtime;
  const hooks = isAgentKind(agent) ? await loadHooks(agent) : undefined;
  const info = await files.info(transcript);
  if (hooks?.transcript === undefined || !info?.isFile || info.size > TRANSCRIPT_MAX_BYTES) return undefined;
  const words = hooks.transcript.lastMessage(await files.readText(transcript) ?? "");
  return words && toBodyText(words);
}
