/** A WebKit browser over the WebDriver protocol: Debian's WebKitWebDriver with its MiniBrowser, on a separate display. */
import { treeOf } from "../agents/end_tree.ts";
import { until } from "../helpers/until.ts";

const DRIVER = "/usr/bin/WebKitWebDriver";
const DISPLAY = "/usr/bin/Xvfb";
const BROWSER = /^webkit2gtk-4\.\d$/;
const LIBRARIES = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
/** The system's (truncated) name for the process of a page. */
const PAGE_PROCESS = "WebKitWebProces";
/** In CSS pixels: this browser's windows are no narrower. */
const NARROWEST = { x: 0, y: 0, width: 447, height: 860 };
/** WebDriver's name for a reference to an element. */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

/** Something on the page: an element by its selector, and by its text or label. */
export interface Place {
  css: string;
  text?: string;
}

/** Returns the Debian packages that are missing. */
export async function missingPackages(): Promise<string[]> {
  const missing: string[] = [];
  if (!await exists(DRIVER) || await browserPath() === undefined) missing.push("webkit2gtk-driver");
  if (Deno.env.get("DISPLAY") === undefined && !await exists(DISPLAY)) missing.push("xvfb");
  return missing;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function browserPath(): Promise<string | undefined> {
  for (const folder of LIBRARIES) {
    const entries = await exists(folder) ? [...Deno.readDirSync(folder)] : [];
    for (const { name } of entries.filter(({ name }) => BROWSER.test(name))) {
      const path = `${folder}/${name}/MiniBrowser`;
      if (await exists(path)) return path;
    }
  }
  return undefined;
}

interface Answer {
  value: unknown;
}

export class WebKit implements AsyncDisposable {
  readonly #ends: (() => Promise<unknown>)[] = [];
  #base = "";
  #driver = 0;

  static async start(): Promise<WebKit> {
    const browser = new WebKit();
    try {
      await browser.#start();
      return browser;
    } catch (error) {
      await browser[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const home = await Deno.makeTempDir({ prefix: "svc-webkit-" });
    this.#ends.push(() => Deno.remove(home, { recursive: true }));
    const display = Deno.env.get("DISPLAY") ?? await this.#startDisplay();
    const port = freePort();
    const env = {
      DISPLAY: display,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      PATH: Deno.env.get("PATH") ?? "",
      LIBGL_ALWAYS_SOFTWARE: "1",
      WEBKIT_DISABLE_COMPOSITING_MODE: "1",
      NO_AT_BRIDGE: "1",
    };
    const program = new Deno.Command(DRIVER, { args: [`--port=${port}`], env, clearEnv: true, ...QUIET })
      .spawn();
    this.#driver = program.pid;
    this.#run(program);
    const driver = `http://127.0.0.1:${port}`;
    await until(
      "the WebKit driver",
      async () =>
        await fetch(`${driver}/status`).then(async (response) => (await response.text()) !== "", () => false),
    );
    const browserOptions = { binary: await browserPath(), args: ["--automation"] };
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": browserOptions } };
    const { sessionId } = await call(`${driver}/session`, { capabilities }) as { sessionId: string };
    this.#base = `${driver}/session/${sessionId}`;
    this.#ends.push(() => call(this.#base, undefined, "DELETE"));
    await this.#call("/window/rect", NARROWEST);
  }

  /** Starts a display; resolves with its name once it accepts clients. */
  async #startDisplay(): Promise<string> {
    const args = ["-displayfd", "1", "-screen", "0", "1024x900x24", "-nolisten", "tcp"];
    const child = new Deno.Command(DISPLAY, { args, stdout: "piped", stderr: "null" }).spawn();
    this.#run(child);
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let said = "";
    while (!said.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) throw new Error("Cannot start Xvfb: it ended without naming a display");
      said += value;
    }
    await reader.cancel();
    return `:${said.trim()}`;
  }

  #run(child: Deno.ChildProcess): void {
    this.#ends.push(async () => {
      try {
        child.kill("SIGTERM");
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
      await child.status;
    });
  }

  async goto(url: string): Promise<void> {
    await this.#call("/url", { url });
  }

  async back(): Promise<void> {
    await this.#call("/back", {});
  }

  async reload(): Promise<void> {
    await this.#call("/refresh", {});
  }

  /** Stops the page, as a phone does with one that is not on its screen; the returned function resumes it. */
  async freeze(): Promise<() => void> {
    const pages: number[] = [];
    for (const pid of await treeOf(this.#driver)) {
      const name = await Deno.readTextFile(`/proc/${pid}/comm`).catch(() => "");
      if (name.startsWith(PAGE_PROCESS)) pages.push(pid);
    }
    if (pages.length === 0) throw new Error("Cannot freeze the page: the browser has no process for it");
    for (const pid of pages) Deno.kill(pid, "SIGSTOP");
    return () => {
      for (const pid of pages) Deno.kill(pid, "SIGCONT");
    };
  }

  /** Runs the body of a function in the page. */
  async run(script: string, ...args: unknown[]): Promise<unknown> {
    return await this.#call("/execute/sync", { script, args });
  }

  /** Resolves with the element's reference once it is shown. */
  async find({ css, text }: Place): Promise<string> {
    const found = await until(
      `"${css}"${text === undefined ? "" : ` with "${text}"`}`,
      async () =>
        await this.run(FIND, css, text ?? null).catch((error) => {
          // The page is being replaced.
          if (error instanceof WebDriverError) return undefined;
          throw error;
        }),
    );
    return (found as Record<string, string>)[ELEMENT] ?? "";
  }

  async click(place: Place): Promise<void> {
    await this.#call(`/element/${await this.find(place)}/click`, {});
  }

  /** Types into a field as a keyboard does. */
  async type(place: Place, text: string): Promise<void> {
    await this.#call(`/element/${await this.find(place)}/value`, { text });
  }

  async #call(path: string, body: unknown): Promise<unknown> {
    return await call(this.#base + path, body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}

const QUIET = { stdout: "null", stderr: "null" } as const;

/** Finds the innermost visible element that has the text. */
const FIND = `
  const [css, text] = arguments;
  const shown = [...document.querySelectorAll(css)].filter((one) => one.getClientRects().length > 0);
  return shown.findLast((one) =>
    text === null || (one.getAttribute("aria-label") ?? one.textContent).includes(text)
  ) ?? null;
`;

class WebDriverError extends Error {
  override name = "WebDriverError";
}

async function call(url: string, body: unknown, method = "POST"): Promise<unknown> {
  const response = await fetch(url, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { value } = await response.json() as Answer;
  if (response.ok) return value;
  const { error, message } = value as { error: string; message: string };
  throw new WebDriverError(`${new URL(url).pathname}: ${error}: ${message}`);
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
