/** Screens captured from real agents, with what a profile must read from each. */
import { fileURLToPath } from "node:url";
import type { Focus, Screen, ScreenReading } from "../../src/agents/profile.ts";
import { type AgentKind, isAgentKind } from "../../src/protocol/names.ts";

const FOLDER = new URL("../testdata/screens/", import.meta.url);

export interface AgentScreen {
  kind: AgentKind;
  /** The name of its folder. */
  name: string;
  screen: Screen;
  expect: ScreenReading;
  /** Path of the file that holds its lines. */
  path: string;
}

interface Meta extends Pick<Screen, "title" | "cursor" | "applicationKeys"> {
  version: string;
  /** Null stands for undefined. */
  expect: {
    state: ScreenReading["state"] | null;
    focus: Focus;
    draft: string | null;
    menu?: string;
    cut?: true;
    interrupted?: true;
  };
}

function foldersIn(url: URL): string[] {
  return [...Deno.readDirSync(url)].filter((entry) => entry.isDirectory).map((entry) => entry.name).sort();
}

function readOne(kind: string, name: string): AgentScreen {
  if (!isAgentKind(kind)) throw new Error(`"${kind}" is no kind of agent`);
  const folder = new URL(`${kind}/${name}/`, FOLDER);
  const path = fileURLToPath(new URL("screen.txt", folder));
  const { expect, version: _, ...shown }: Meta = JSON.parse(
    Deno.readTextFileSync(new URL("meta.json", folder)),
  );
  const lines = Deno.readTextFileSync(path).replace(/\n$/, "").split("\n");
  const { state, focus, draft, ...others } = expect;
  return {
    kind,
    name,
    screen: { lines, ...shown },
    expect: {
      state: state ?? undefined,
      focus,
      draft: draft ?? undefined,
      ...others,
    },
    path,
  };
}

/** Returns every capture, sorted by kind and name. */
export function agentScreens(): AgentScreen[] {
  return foldersIn(FOLDER).flatMap((kind) =>
    foldersIn(new URL(`${kind}/`, FOLDER)).map((name) => readOne(kind, name))
  );
}
