/** The shape of a requirement, and the shorthand in which the files of this folder write theirs. */

/** The capabilities, in the order in which they were added; a requirement names the one that brings it. */
export const CAPABILITIES = ["main", "agents", "mirror", "phone", "faults", "scale", "packages"] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The capabilities that exist: each of their requirements needs a test. */
export const BUILT: readonly Capability[] = CAPABILITIES;

export interface Requirement {
  /** Short and stable; a test's name ends with the ids that it shows, as in `[wrap-next, wrap-label]`. */
  id: string;
  /** Document and heading. */
  source: string;
  text: string;
  by: Capability;
  /** Why no test can show it, for such rows only. */
  untested?: string;
}

type Entry = Omit<Requirement, "id" | "source">;
type Writer = (text: string, options?: { untested?: string }) => Entry;

const writer = (by: Capability): Writer => (text, options = {}) => ({ text, by, ...options });

export const main = writer("main");
export const agents = writer("agents");
export const mirror = writer("mirror");
export const phone = writer("phone");
export const faults = writer("faults");
export const scale = writer("scale");
export const packages = writer("packages");

/** Returns the rows of one section, from an object keyed by id. */
export function rows(source: string, entries: Record<string, Entry>): Requirement[] {
  return Object.entries(entries).map(([id, entry]) => ({ id, source, ...entry }));
}
