/** What a wrapper does about the daemon (docs/specification.md, Wrapper and daemon transitions). Loads no schema. */

export type DaemonDecision =
  | { action: "start" }
  | { action: "keep" }
  /** The daemon is newer than the installed package. */
  | { action: "leave"; running: string }
  /** The daemon is older, and a service of another svc (`program`), which a restart would start again. */
  | { action: "leave_service"; running: string; program: string }
  | { action: "restart"; stale: string };

interface DaemonFacts {
  /** The version of the running daemon, as in `listener.version`; undefined when none runs. */
  running: string | undefined;
  installed: string;
}

export function decideDaemon({ running, installed }: DaemonFacts): DaemonDecision {
  if (running === undefined) return { action: "start" };
  const order = compareVersions(installed, running);
  if (order > 0) return { action: "restart", stale: running };
  return order < 0 ? { action: "leave", running } : { action: "keep" };
}

/** Semantic Versioning 2.0.0. */
const VERSION = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

export function isVersion(text: string): boolean {
  return VERSION.test(text);
}

/** Negative when `left` is older, positive when it is newer, 0 when they are equal or one of them is not a version. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [VERSION.exec(left), VERSION.exec(right)];
  if (a === null || b === null) return 0;
  for (const part of [1, 2, 3]) {
    const difference = Number(a[part]) - Number(b[part]);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(a[4], b[4]);
}

/** A release is newer than its pre-releases (Semantic Versioning, section 11). */
function comparePrereleases(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined) {
    return Number(left === undefined) - Number(right === undefined);
  }
  const [a, b] = [left.split("."), right.split(".")];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = compareIdentifiers(a[index] ?? "", b[index] ?? "");
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Numeric identifiers compare as numbers and sort before alphanumeric ones. */
function compareIdentifiers(left: string, right: string): number {
  const [a, b] = [left, right].map((word) => (/^\d+$/.test(word) ? Number(word) : undefined));
  if (a !== undefined && b !== undefined) return a - b;
  if (a !== undefined || b !== undefined) return a !== undefined ? -1 : 1;
  return left < right ? -1 : Number(left > right);
}
