/** The programs that svc and its tests need from the system, and how to get them. */

/** `proofs` includes what `tests` needs. */
export type Purpose = "tests" | "demo" | "proofs";

export interface Tool {
  name: string;
  /** Any one of these programs is enough. */
  programs: readonly string[];
  /** The package's name for each installer; absent where the system includes the program. */
  debian: string;
  brew?: string;
  purposes: readonly Purpose[];
  /** The tests also run without it, but slower. */
  isOptional?: boolean;
}

const TOOLS: readonly Tool[] = [
  { name: "tmux", programs: ["tmux"], debian: "tmux", brew: "tmux", purposes: ["demo", "tests"] },
  { name: "ps", programs: ["ps"], debian: "procps", purposes: ["demo", "tests"] },
  { name: "lsof", programs: ["lsof"], debian: "lsof", purposes: ["tests"] },
  { name: "git", programs: ["git"], debian: "git", brew: "git", purposes: ["tests"] },
  { name: "vim", programs: ["vim.basic", "vim.tiny", "vim"], debian: "vim-tiny", purposes: ["tests"] },
  { name: "less", programs: ["less"], debian: "less", purposes: ["tests"] },
  { name: "htop", programs: ["htop"], debian: "htop", brew: "htop", purposes: ["tests"] },
  {
    name: "NATS",
    programs: ["nats-server"],
    debian: "nats-server",
    brew: "nats-server",
    purposes: ["tests"],
  },
  { name: "nginx", programs: ["nginx"], debian: "nginx-light", brew: "nginx", purposes: ["tests"] },
  {
    name: "Chromium",
    programs: ["chromium", "chromium-browser", "google-chrome"],
    debian: "chromium",
    brew: "--cask chromium",
    purposes: ["tests"],
  },
  {
    name: "Chromium's headless shell",
    programs: ["chromium-headless-shell"],
    debian: "chromium-headless-shell",
    purposes: ["tests"],
    isOptional: true,
  },
  { name: "faketime", programs: ["faketime"], debian: "faketime", brew: "libfaketime", purposes: ["proofs"] },
  { name: "zsh", programs: ["zsh"], debian: "zsh", brew: "zsh", purposes: ["proofs"] },
  { name: "fish", programs: ["fish"], debian: "fish", brew: "fish", purposes: ["proofs"] },
  {
    name: "mosquitto",
    programs: ["mosquitto"],
    debian: "mosquitto",
    brew: "mosquitto",
    purposes: ["proofs"],
  },
];

export async function exists(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

/** Debian keeps servers in a folder that is not on every account's PATH. */
const SERVERS = "/usr/sbin";

async function isOnPath(program: string): Promise<boolean> {
  const folders = [...(Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== ""), SERVERS];
  const found = await Promise.all(folders.map((folder) => exists(`${folder}/${program}`)));
  return found.includes(true);
}

async function isThere({ programs }: Tool): Promise<boolean> {
  return (await Promise.all(programs.map(isOnPath))).includes(true);
}

/** Returns the tools that the purpose needs and the machine lacks. */
export async function missingTools(purpose: Purpose): Promise<Tool[]> {
  const all: readonly Purpose[] = purpose === "proofs" ? ["tests", "proofs"] : [purpose];
  const wanted = TOOLS.filter(({ purposes }) => purposes.some((one) => all.includes(one)));
  const there = await Promise.all(wanted.map(isThere));
  return wanted.filter((_, at) => !there[at]);
}

/** Returns one line on how to install a tool by hand. */
export function toolHint({ name, debian, brew }: Tool): string {
  const others = brew === undefined ? "" : `, or on macOS: brew install ${brew}`;
  return `✗ ${name} is missing: on Debian and Ubuntu run "sudo apt-get install ${debian}"${others}`;
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  try {
    const stdio = { stdin: "null", stdout: "null", stderr: "null" } as const;
    return (await new Deno.Command(program, { args: [...args], ...stdio }).output()).success;
  } catch {
    return false;
  }
}

/** Returns the prefix that runs `apt-get` as root, or undefined if that would need a password. */
async function rootPrefix(): Promise<string[] | undefined> {
  if (!await isOnPath("apt-get")) return undefined;
  if (Deno.uid() === 0) return [];
  return await succeeds("sudo", ["-n", "true"]) ? ["sudo", "-n"] : undefined;
}

async function runAs(prefix: readonly string[], argv: readonly string[]): Promise<boolean> {
  const [program = "", ...args] = [...prefix, "env", "DEBIAN_FRONTEND=noninteractive", ...argv];
  const { success } = await new Deno.Command(program, { args, stdin: "null", stdout: "null" }).spawn().status;
  return success;
}

/** Installs what it can; the caller reports what is still missing. */
export async function install(tools: readonly Tool[], say: (line: string) => void): Promise<void> {
  const prefix = await rootPrefix();
  if (prefix === undefined) return;
  if (tools.some(({ isOptional }) => !isOptional)) await runAs(prefix, ["apt-get", "update", "-qq"]);
  // If one package were missing in this release, apt-get would install none of the others.
  const isInstallable = async ({ isOptional, debian }: Tool): Promise<boolean> =>
    !isOptional || await succeeds("apt-cache", ["show", debian]);
  const found = await Promise.all(tools.map(isInstallable));
  const packages = tools.filter((_, at) => found[at]).map(({ debian }) => debian);
  if (packages.length === 0) return;
  say(`installing with apt-get: ${packages.join(" ")}`);
  await runAs(prefix, ["apt-get", "install", "-y", "-qq", "--no-install-recommends", ...packages]);
}
