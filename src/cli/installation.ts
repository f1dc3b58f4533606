/** Finds out from the command that runs this svc how it was installed, and how it is upgraded. */
import { folderOf, shellLine } from "../runtime/system.ts";

/** The name in the npm registry; must match deno.json. */
export const PACKAGE = "@svc/svc";

/** Builds the package where no Deno is installed; must match the README. */
const DENO_VERSION = "2.9.6";

export type Installation =
  /** A clone of the repository; `deno install -g` in one leads to it too. */
  | { kind: "checkout"; folder: string }
  /** A package that `deno task package` built: no registry has a newer version of it. */
  | { kind: "built"; folder: string }
  /** `deno install -g npm:…`: Deno runs the npm package from its cache. */
  | { kind: "deno"; version: string }
  | { kind: "npm-global" }
  | { kind: "pnpm-global" }
  /** A dependency of the project in this folder. */
  | { kind: "npm-project" | "pnpm-project"; folder: string }
  /** npx keeps packages in a cache that may be cleared. */
  | { kind: "npx" }
  | { kind: "binary"; file: string };

/** What Deno's cache of npm packages adds to the registry's name: the package, its version and the file. */
const DENO_CACHE = /\/npm\/[^/]+\/(?:@[^/]+\/)?[^/]+\/(\d[^/]*)\/[^/]+$/;
const MODULES = "/node_modules/";
const PNPM_STORE = `${MODULES}.pnpm/`;

/**
 * `command`: argv that runs this program again; `program`: its last file with every link resolved; `isBuilt`: its package
 * says that it was built in a checkout, not for a registry.
 */
export function installationOf(
  command: readonly string[],
  { program, isBuilt }: { program: string; isBuilt: boolean },
): Installation {
  if (command.length === 1) return { kind: "binary", file: command[0] ?? "" };
  const own = folderOf(program);
  if (isBuilt) return { kind: "built", folder: own };
  if (program.includes("/_npx/")) return { kind: "npx" };
  const cached = DENO_CACHE.exec(program);
  if (cached !== null) return { kind: "deno", version: cached[1] ?? "" };
  if (/\/pnpm\/global\//.test(program)) return { kind: "pnpm-global" };
  const [inPnpm, inNpm] = [program.indexOf(PNPM_STORE), program.lastIndexOf(MODULES)];
  if (inPnpm >= 0) return { kind: "pnpm-project", folder: program.slice(0, inPnpm) };
  if (inNpm < 0) return { kind: "checkout", folder: own };
  const folder = program.slice(0, inNpm);
  return folder.endsWith("/lib") ? { kind: "npm-global" } : { kind: "npm-project", folder };
}

/** A sentence for people if the command's program is in npx's cache. `starter` names what runs the command. */
export function npxAdvice(command: readonly string[], starter = "It"): string | undefined {
  const cached = command.find((word) => word.includes("/_npx/"));
  return cached &&
    `${starter} starts "${cached}", which is in npx's cache: npm may clear that, so install it for good.`;
}

/** A phrase for people. */
export function describeInstallation(installation: Installation): string {
  switch (installation.kind) {
    case "checkout":
      return `a checkout in "${installation.folder}"`;
    case "built":
      return `a package that was built in a checkout, in "${installation.folder}"`;
    case "deno":
      return "installed by deno install -g from npm";
    case "npm-global":
      return "installed by npm install -g";
    case "pnpm-global":
      return "installed by pnpm add -g";
    case "npm-project":
    case "pnpm-project":
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

/** The commands that install the newest version; empty if none can. */
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
    case "pnpm-global":
      return [{ argv: ["pnpm", "add", "--global", newest] }];
    case "npm-project":
      return [{ argv: ["npm", "install", newest], cwd: installation.folder }];
    case "pnpm-project":
      return [{ argv: ["pnpm", "add", newest], cwd: installation.folder }];
    case "npx":
      return [{ argv: ["npx", "--yes", newest, "--version"] }];
    case "built":
    case "binary":
      return [];
  }
}

/** How to upgrade by hand where svc can run no command for it, as lines for people, and why it cannot. */
export function manualUpgrade({ kind }: Installation): { lines: string[]; obstacle: string } {
  if (kind !== "built") {
    return {
      lines: ["To upgrade it, put the new program in its place."],
      obstacle: "svc does not know where the new program comes from",
    };
  }
  const lines = [
    "To upgrade it, run in the checkout that it was built in:",
    "  git pull --ff-only",
    `  npx -y deno@${DENO_VERSION} task package`,
    "The last one prints the command that installs the result.",
  ];
  return { lines, obstacle: "a built package does not record where its checkout is" };
}

/** The step as a line for a shell. */
export function stepLine({ argv, cwd }: UpgradeStep): string {
  const line = shellLine(argv);
  return cwd === undefined ? line : `cd ${shellLine([cwd])} && ${line}`;
}
