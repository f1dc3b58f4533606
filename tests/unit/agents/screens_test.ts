/** Every screen captured from a real agent is read by that agent's profile as its `meta.json` says. */
import assert from "node:assert/strict";
import type { ScreenReading } from "../../../src/agents/profile.ts";
import { agentProfile } from "../../../src/agents/registry.ts";
import { isAgentKind } from "../../../src/protocol/names.ts";

const FOLDER = new URL("../../testdata/screens/", import.meta.url);

interface Meta {
  title: string;
  cursor: { x: number; y: number; visible: boolean };
  /** `draft` is null where the screen shows no input line. */
  expect: Pick<ScreenReading, "state" | "dialog"> & { draft: string | null };
}

function foldersIn(url: URL): string[] {
  return [...Deno.readDirSync(url)].filter((entry) => entry.isDirectory).map((entry) => entry.name).sort();
}

for (const kind of foldersIn(FOLDER)) {
  for (const name of foldersIn(new URL(`${kind}/`, FOLDER))) {
    Deno.test(`the ${kind} profile reads the screen "${name}" [inj-profile, ls-state-order]`, () => {
      if (!isAgentKind(kind)) throw new Error(`"${kind}" is no kind of agent`);
      const folder = new URL(`${kind}/${name}/`, FOLDER);
      const { title, cursor, expect }: Meta = JSON.parse(Deno.readTextFileSync(new URL("meta.json", folder)));
      const lines = Deno.readTextFileSync(new URL("screen.txt", folder)).replace(/\n$/, "").split("\n");
      const { state, dialog, draft } = agentProfile(kind).readScreen({ lines, title, cursor });
      assert.deepEqual({ state, dialog, draft: draft ?? null }, expect);
    });
  }
}
