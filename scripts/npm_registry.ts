/** Checks with npm and its registry for a package that is about to be published. */

const decoder = new TextDecoder();

interface Said {
  isOk: boolean;
  stdout: string;
  stderr: string;
}

async function ask(argv: readonly string[], cwd?: string): Promise<Said> {
  const [program = "", ...args] = argv;
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    ...(cwd === undefined ? {} : { cwd }),
    env: { NO_COLOR: "1", NO_UPDATE_NOTIFIER: "1" },
  }).output();
  return { isOk: success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Warnings about the machine and its user, not about the package. */
const ABOUT_THE_MACHINE = /Unknown (?:user|env|project|builtin) config|requires you to be logged in/;

/**
 * Returns the warnings of `npm publish --dry-run` about the package in `folder`.
 *
 * @throws with npm's messages when it fails
 */
export async function publishWarnings(folder: string): Promise<string[]> {
  const { isOk, stderr } = await ask(["npm", "publish", "--dry-run"], folder);
  if (!isOk) throw new Error(`cannot publish "${folder}": npm publish --dry-run said\n${stderr}`);
  return stderr.split("\n").filter((line) => /^npm warn/i.test(line) && !ABOUT_THE_MACHINE.test(line));
}

/** Returns one line: `name` is free, has this version already, or cannot be looked up. */
export async function nameLine(name: string, version: string): Promise<string> {
  const { isOk, stdout, stderr } = await ask(["npm", "view", name, "versions", "--json"]);
  if (!isOk && /E404/.test(stdout + stderr)) {
    return `name: ${name} is free on the registry; publishing it needs an account that may use its scope`;
  }
  if (!isOk) return `name: ${name} was not looked up: the registry cannot be reached`;
  const versions: unknown = JSON.parse(stdout);
  const isTaken = versions === version || Array.isArray(versions) && versions.includes(version);
  return isTaken
    ? `name: ${name} ${version} is published already`
    : `name: ${name} is published in other versions: make sure that they are yours`;
}

/** Returns `https://host/owner/name` for any form of remote that git accepts; undefined for a folder. */
export function webAddress(remote: string): string | undefined {
  const [, host, path] =
    /^(?:git\+)?(?:https?:\/\/|ssh:\/\/)?(?:[^@/]+@)?([\w-]+(?:\.[\w-]+)+)[/:](.+?)(?:\.git)?\/?$/
      .exec(remote) ?? [];
  return host === undefined || path === undefined ? undefined : `https://${host}/${path}`;
}

/** Returns the source's address: the repository that continuous integration builds, else the checkout's origin. */
export async function repositoryUrl(root: string): Promise<string | undefined> {
  const [server, repository] = ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY"].map((name) => Deno.env.get(name));
  const project = Deno.env.get("CI_PROJECT_URL");
  if (server !== undefined && repository !== undefined) return `${server}/${repository}`;
  if (project !== undefined) return project;
  const { isOk, stdout } = await ask(["git", "-C", root, "remote", "get-url", "origin"]);
  return isOk ? webAddress(stdout.trim()) : undefined;
}
