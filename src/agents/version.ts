/** Versions of the agents: how an agent is asked for its own, and whether one is newer than another. */

/** Numbers with dots, and what may follow: `1.2.3`, `2025.09.18-7ae6800`, `1.2.3-beta.1`. */
const VERSION = /\b(\d+(?:\.\d+){1,3})(-[0-9A-Za-z][0-9A-Za-z.-]*)?/;

/** Arguments that make any agent print its version. Some unpack themselves and write to the home directory when they start. */
export const VERSION_ARGS: readonly string[] = ["--version"];

/** The version number in the output of `--version`, such as `2.1.329 (Claude Code)`; undefined if it has none. */
export function parseVersion(output: string): string | undefined {
  const [found] = VERSION.exec(output.slice(0, OUTPUT_CHARACTERS)) ?? [];
  return found?.replace(/[.-]+$/, "");
}

/** More than any agent prints. */
const OUTPUT_CHARACTERS = 1_000;

/**
 * Negative if `left` is older than `right`, positive if it is newer. Missing numbers count as 0; a version with a suffix
 * is older than the same version without it. Undefined if either is not a version.
 */
export function compareVersions(left: string, right: string): number | undefined {
  const [one, other] = [partsOf(left), partsOf(right)];
  if (one === undefined || other === undefined) return undefined;
  const length = Math.max(one.numbers.length, other.numbers.length);
  for (let at = 0; at < length; at++) {
    const difference = (one.numbers[at] ?? 0) - (other.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return Number(other.hasAddition) - Number(one.hasAddition);
}

/** Whether the agent is newer than the version on which its profile was measured; false if either is unknown. */
export function isNewerThanMeasured(version: string | undefined, measured: string): boolean {
  return version !== undefined && (compareVersions(version, measured) ?? 0) > 0;
}

function partsOf(version: string): { numbers: number[]; hasAddition: boolean } | undefined {
  const [, numbers, addition] = VERSION.exec(version) ?? [];
  if (numbers === undefined) return undefined;
  return { numbers: numbers.split(".").map(Number), hasAddition: addition !== undefined };
}
