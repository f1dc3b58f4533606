/** Binds what tells the phones of hooks' news to the relay and the home. */
import { runtime } from "#runtime";
import { createRelayApi } from "../client/api.ts";
import { systemClock } from "../client/clock.ts";
import { ensureHookId } from "../home/hook_id.ts";
import { isMuted, loadMuted } from "../home/muted.ts";
import type { HomePaths } from "../home/paths.ts";
import { NewsDesk } from "../listener/hook_news.ts";

export function makeNewsDesk(
  paths: HomePaths,
  options: { baseUrl: string; apiKey: string; log(line: string): void },
): NewsDesk {
  const { files } = runtime;
  const api = createRelayApi(options);
  return new NewsDesk({
    clock: systemClock,
    send: (push, given) => api.sendPush(push, given),
    hookId: () => ensureHookId(files, paths),
    isMuted: async (directory) =>
      isMuted(await loadMuted(files, paths), await files.realPath(directory) ?? directory),
    log: options.log,
  });
}
