/** Sessions and their agent panes are read from tmux's lists. */
import assert from "node:assert/strict";
import { parseSessions, SCREEN_FIELDS, screenOf } from "../../../src/tmux/sessions.ts";

interface PaneSpec {
  session?: string;
  recordedPane?: string;
  recordedPid?: string;
  pane: string;
  active?: string;
  path?: string;
  /** The options destroy-unattached and exit-unattached. */
  unattached?: [string, string];
}

function paneLine(
  {
    session = "svc-a",
    recordedPane = "",
    recordedPid = "",
    pane,
    active = "0",
    path = "/p",
    unattached = ["0", "0"],
  }: PaneSpec,
): string {
  const fields = [
    ...[
      session,
      "$1",
      "100",
      "200",
      ...unattached,
      "cc",
      "a",
      recordedPane,
      recordedPid,
      "123.ab",
      "/p",
      "/p/root",
    ],
    ...[pane, "42", "0", active, "claude", "80", "24", "title", path],
  ];
  return ["pane", ...fields].join("\t");
}

Deno.test("sessions: the recorded pane is used, whatever is split or active [inj-split, inj-exact]", () => {
  const output = [
    paneLine({ pane: "%1", recordedPane: "%1" }),
    paneLine({ pane: "%2", recordedPane: "%1", active: "1" }),
  ].join("\n");
  const [session] = parseSessions("/s", output);
  assert.equal(session?.pane?.id, "%1");
  assert.equal(session?.activity, 200);
});

Deno.test("sessions: a recorded pane that is gone is not replaced by another", () => {
  const [session] = parseSessions("/s", paneLine({ pane: "%2", recordedPane: "%1", active: "1" }));
  assert.equal(session?.pane, undefined);
});

Deno.test("sessions: without a record the active pane is used", () => {
  const output = [paneLine({ pane: "%1" }), paneLine({ pane: "%2", active: "1" })].join("\n");
  assert.equal(parseSessions("/s", output)[0]?.pane?.id, "%2");
});

Deno.test("sessions: control-mode clients do not count as attached [wr-control-client]", () => {
  const pane = paneLine({ pane: "%1", active: "1" });
  assert.equal(parseSessions("/s", `${pane}\nclient\t1\tsvc-a`)[0]?.attached, false);
  assert.equal(parseSessions("/s", `${pane}\nclient\t1\tsvc-a\nclient\t0\tsvc-a`)[0]?.attached, true);
});

Deno.test("sessions: one that ends when a client detaches is recognized by either option, also by its symbolic values [inj-client-held]", () => {
  const isDestroyed = (unattached: [string, string]): boolean | undefined =>
    parseSessions("/s", paneLine({ pane: "%1", active: "1", unattached }))[0]?.destroyedWhenUnattached;
  for (const options of [["1", "0"], ["0", "1"], ["on", "0"], ["keep-last", "0"]] as const) {
    assert.equal(isDestroyed([...options]), true, options.join());
  }
  for (const options of [["0", "0"], ["off", "0"]] as const) assert.equal(isDestroyed([...options]), false);
});

Deno.test("sessions: a path with a tab stays one field", () => {
  assert.equal(
    parseSessions("/s", paneLine({ pane: "%1", active: "1", path: "/a\tb" }))[0]?.pane?.path,
    "/a\tb",
  );
});

Deno.test("screens: a joiner that tmux draws in another row than it was printed in changes no row, one in an emoji stays [show-bytes]", () => {
  const drawn = ["❯ a :b", "echo \u200d· idle", "\u200d\u200b  esc \ufeffto cancel", "👨\u200d👩 a\u200db"];
  assert.deepEqual(screenOf(SCREEN_FIELDS, drawn).lines, [
    ...["❯ a :b", "echo · idle", "  esc to cancel"],
    "👨\u200d👩 a\u200db",
  ]);
});
