/** The name of a marker's file: `<digest of the directory>.<epoch ms>.<random>.<digest of the text>`. */

export interface MarkerName {
  /** Hex SHA-256 of the project directory's real path. */
  directory: string;
  /** Epoch milliseconds of the injection. */
  epoch: number;
  /** Tells two injections of one millisecond apart. */
  random: string;
  /** Hex SHA-256 of the canonical text. */
  sha256: string;
}

const NAME = /^([0-9a-f]{64})\.(\d{1,16})\.([0-9a-f]{8})\.([0-9a-f]{64})$/;

export function formatMarkerName({ directory, epoch, random, sha256 }: MarkerName): string {
  return `${directory}.${epoch}.${random}.${sha256}`;
}

/** Undefined for a file that is no marker. */
export function parseMarkerName(name: string): MarkerName | undefined {
  const [, directory, epoch, random, sha256] = NAME.exec(name) ?? [];
  if (!directory || !epoch || !random || !sha256) return undefined;
  return { directory, epoch: Number(epoch), random, sha256 };
}
