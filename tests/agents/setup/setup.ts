/** Prepares a temporary HOME in which an agent starts at its input line and talks only to the stand-in. */

export interface SetupOptions {
  home: string;
  project: string;
  /** Base address of the stand-in. */
  url: string;
  /** The question of the start dialog that stays on the screen; all others are answered in advance. */
  asks: StartQuestion | undefined;
}

/** Folder trust, the use of an API key found in the environment, sign-in, the permission mode, unknown hooks, the theme. */
export type StartQuestion = "trust" | "api_key" | "sign_in" | "auto_mode" | "hooks_review" | "theme";

export interface Launch {
  args: string[];
  env: Record<string, string>;
}

/** Writes the agent's configuration and returns how to launch it. */
export type Setup = (options: SetupOptions) => Promise<Launch>;

/** A proxy setting that sends every request outside loopback to a closed port. */
export const LOOPBACK_ONLY = {
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  http_proxy: "http://127.0.0.1:9",
  https_proxy: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  no_proxy: "127.0.0.1,localhost",
};

export async function writeFiles(folder: string, files: Record<string, string | object>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = `${folder}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
}
