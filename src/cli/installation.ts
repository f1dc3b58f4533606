/** How this svc was installed, from the command that runs it again: which files it needs, and how it is upgraded. */
import { shellQuote } from "../runtime/system.ts";

/** The name in the npm registry; must match deno.json. */
export const PACKAGE = "@svc/svc";

export type Installation =
  /** A clone of the repository; `deno install -g` in one leads to it too. */
  | { kind: "checkout"; folder: string }
  /** `deno install -g npm:…`: Deno runs the npm package from its cache. */
  | { kind: "deno"; version: string }
  | { kind: "npm-global" }
  /** A dependency of the project in this folder. */
  | { kind: "npm-project"; folder: string }
  /** npx keeps packages in a cache that may be cleared. */
  | { kind: "npx" }
  | { kind: "binary"; file: string };

/** `command`: argv that runs this program again; `program`: its last file with every link resolved. */
export function installationOf(command: readonly string[], program: string): Installation {
  if (command.length === 1) return { kind: "binary", file: command[0] ?? "" };
  if (program.includes("/_npx/")) return { kind: "npx" };
  const cached = /\/npm\/registry\.npmjs\.org\/(?:@[^/]+\/)?[^/]+\/([^/]+)\/[^/]+$/.exec(program);
  if (cached !== null) return { kind: "deno", version: cached[1] ?? "" };
  const modules = program.lastIndexOf("/node_modules/");
  if (modules < 0) return { kind: "checkout", folder: program.slice(0, program.lastIndexOf("/")) };
  const folder = program.slice(0, modules);
  return folder.endsWith("/lib") ? { kind: "npm-global" } : { kind: "npm-project", folder };
}

/** One sentence each, for people. */
export function describeInstallation(installation: Installation): string {
  switch (installation.kind) {
    case "checkout":
      return `a checkout in "${installation.folder}"`;
    case "deno":
      return "installed by deno install -g from npm";
    case "npm-global":
      return "installed by npm install -g";
    case "npm-project":
      return `a dependency of the project in "${installation.folder}"`;
    case "npx":
      return "run by npx, from npm's cache";
    case "binary":
      return `the single program "${installation.file}"`;
  }
}

export interface UpgradeStep {
  argv: readonly string[];
  cwd?: string;
}

/** What installs the newest version; none where no command can. */
export function upgradeSteps(installation: Installation, deno: string): UpgradeStep[] {
  const newest = `${PACKAGE}@latest`;
  switch (installation.kind) {
    case "checkout": {
      const { folder } = installation;
      return [
        { argv: ["git", "pull", "--ff-only"], cwd: folder },
        { argv: [deno, "install", "--frozen"], cwd: folder },
        { argv: [deno, "run", "-A", "scripts/build_phone.ts"], cwd: folder },
      ];
    }
    case "deno":
      return [{ argv: [deno, "install", "--global", "--force", "-A", "--name", "svc", `npm:${newest}`] }];
    case "npm-global":
      return [{ argv: ["npm", "install", "--global", newest] }];
    case "npm-project":
      return [{ argv: ["npm", "install", newest], cwd: installation.folder }];
    case "npx":
      return [{ argv: ["npx", "--yes", newest, "--version"] }];
    case "binary":
      return [];
  }
}

/** The step as a line for a shell. */
export function stepLine({ argv, cwd }: UpgradeStep): string {
  const line = shellLine(argv);
  return cwd === undefined ? line : `cd ${shellWord(cwd)} && ${line}`;
}

export function shellLine(argv: readonly string[]): string {
  return argv.map(shellWord).join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word);
}
