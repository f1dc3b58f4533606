/** The classes of screens that a crawl met; saves the unknown ones as candidates for fixtures. */
import { fileURLToPath } from "node:url";
import type { Screen } from "../../../src/agents/profile.ts";
import { agentProfile } from "../../../src/agents/profiles.ts";
import { REAL_AGENTS, type RealAgent } from "../install.ts";

const FOLDER = fileURLToPath(new URL("../../../.cache/closed/screens/", import.meta.url));

/** Returns the screen with its texts replaced: frames, symbols and the positions of texts. */
export function structureOf({ lines }: Screen): string {
  const shapes = lines.map((line) =>
    line.replace(/[\p{L}\p{M}\p{N}\p{Pc}'’.,-]+/gu, "a").replace(/a(?: +a)+/g, "a").replace(
      /([^a ])\1+/gu,
      "$1",
    )
      .replace(/ +/g, " ")
  );
  return shapes.filter((shape, at) => shape.trim() !== "" && shape !== shapes[at - 1]).join("\n");
}

async function hashOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes).slice(0, 6), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class SeenScreens {
  readonly #kind: RealAgent;
  readonly #classes = new Set<string>();
  #unknown = 0;

  constructor(kind: RealAgent) {
    this.#kind = kind;
  }

  get classes(): number {
    return this.#classes.size;
  }

  /** The number of classes that the profile reads as `unknown`. */
  get unknown(): number {
    return this.#unknown;
  }

  async add(screen: Screen): Promise<void> {
    const hash = await hashOf(structureOf(screen));
    if (this.#classes.has(hash)) return;
    this.#classes.add(hash);
    const reading = agentProfile(this.#kind).readScreen(screen);
    if (reading.focus !== "unknown") return;
    this.#unknown++;
    const { lines, title, cursor } = screen;
    const folder = `${FOLDER}${this.#kind}/${hash}`;
    const meta = { version: REAL_AGENTS[this.#kind].version, title, cursor, reading };
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/screen.txt`, `${lines.join("\n")}\n`);
    await Deno.writeTextFile(`${folder}/meta.json`, `${JSON.stringify(meta, null, 2)}\n`);
  }
}
