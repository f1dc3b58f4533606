/** What a process reads about its tmux pane from its environment. */
import assert from "node:assert/strict";
import { type OwnPane, ownPane, ownServer } from "../../../src/home/notify_daemon.ts";

async function paneIn(variables: Record<string, string>): Promise<OwnPane> {
  const env = { get: (name: string): string | undefined => variables[name] };
  const realPath = (path: string): Promise<string | undefined> =>
    path.startsWith("/closed")
      ? Promise.reject(new Error("permission denied"))
      : Promise.resolve(path.startsWith("/tmp/") ? `/private${path}` : undefined);
  return await ownPane({ env, files: { realPath } });
}

Deno.test("own pane: its id, and the socket of its server as the resolved path that the listener uses [inj-gate]", async () => {
  const cases: [string, string | undefined][] = [
    ["/tmp/tmux-1000/default,4242,0", "/private/tmp/tmux-1000/default"],
    ["/tmp/a,b/default,4242,-1", "/private/tmp/a,b/default"],
    ["/gone/default,4242,0", undefined],
    ["/closed/default,4242,0", undefined],
    ["default,4242,0", undefined],
    ["", undefined],
  ];
  for (const [TMUX, socket] of cases) {
    assert.deepEqual(await paneIn({ TMUX, TMUX_PANE: "%12" }), { pane: "%12", socket }, TMUX);
  }
  for (const TMUX_PANE of ["", "12", "%12 "]) {
    assert.deepEqual(await paneIn({ TMUX_PANE }), { pane: undefined, socket: undefined }, TMUX_PANE);
  }
});

Deno.test("own pane: the process id of its tmux server [rm-cwd]", () => {
  const servers = ["/tmp/tmux-1000/a,b,4242,-1", "default,4242,0", ""].map((TMUX) =>
    ownServer({ get: (name) => name === "TMUX" ? TMUX : undefined })
  );
  assert.deepEqual(servers, [4242, undefined, undefined]);
});
