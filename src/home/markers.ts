/** Injection markers (docs/specification.md, REMOTE mode): one-shot files by which a hook recognizes a phone's prompt. */
import { sha256Hex } from "../async/encodings.ts";
import { canonicalDigest, canonicalText } from "../protocol/canonical.ts";
import { parseJson } from "../protocol/json.ts";
import type { Files } from "../runtime/types.ts";

/** The content of a marker's file; the file's name repeats all of it but the length and the pane. */
export interface Marker {
  /** Epoch milliseconds of the injection. */
  epoch: number;
  /** The digest of the canonical text. */
  sha256: string;
  /** Real path of the pane's project directory. */
  key: string;
  /** The canonical text's length in characters, by which a join can be matched without the text. */
  length: number;
  /** The pane that the text was typed into, `%<n>`, if known. */
  pane?: string | undefined;
  /** The socket of that pane's tmux server, if known: pane ids repeat on other servers. */
  socket?: string | undefined;
  /** That server's process id, if known: another server at this socket gives its panes the same ids. */
  server?: number | undefined;
  /** The time since this machine's start, where the system shows it: the clock may be set. */
  since?: BootTime | undefined;
}

/** A time that no clock changes. */
export interface BootTime {
  /** Differs at each start of the machine. */
  boot: string;
  /** Milliseconds since then. */
  ms: number;
}

/** Undefined on a system without /proc. */
export async function bootTime(files: Pick<Files, "readText">): Promise<BootTime | undefined> {
  const read = (path: string): Promise<string | undefined> => files.readText(path).catch(() => undefined);
  const [boot, uptime] = await Promise.all([read("/proc/sys/kernel/random/boot_id"), read("/proc/uptime")]);
  const ms = Number(uptime?.split(" ")[0]) * 1_000;
  return boot === undefined || !Number.isFinite(ms) ? undefined : { boot: boot.trim(), ms };
}

/** An agent may submit a queued message late; after this time its marker has expired. */
export const MARKER_LIFE_MS = 24 * 3_600_000;
/** Agents without a hook take no markers: beyond this many for a directory, the oldest are removed. */
export const MARKERS_MAX = 200;

export interface MarkerHome {
  files: Files;
  /** The directory of the markers. */
  markers: string;
  /** Without it a marker's age is that by the clock. */
  bootTime?(): Promise<BootTime | undefined>;
}

/** An injection, or a submitted prompt, in a project. */
export interface MarkedText {
  dir: string;
  text: string;
  /** Epoch milliseconds. */
  now: number;
  /** `%<n>`, if known: two sessions in one project may get the same text. */
  pane?: string | undefined;
  /** The resolved path of the socket of that pane's tmux server. */
  socket?: string | undefined;
  /** That server's process id, if known. */
  server?: number | undefined;
  /** The prompt was certainly submitted in that pane, so that no marker for another pane matches. */
  isPaneSure?: boolean;
}

export interface MarkerHandle {
  path: string;
}

interface StoredMarker extends MarkerName {
  path: string;
}

/** An injection. Its server may still be looked up. */
export type WrittenText = Omit<MarkedText, "server" | "isPaneSure"> & {
  server?: MarkedText["server"] | Promise<MarkedText["server"]>;
};

/** Writes a marker. Must end before Enter is sent, because the hook runs right afterwards. */
export async function writeMarker(
  home: MarkerHome,
  { dir, text, now, pane, socket, ...marked }: WrittenText,
): Promise<MarkerHandle> {
  const project = async (): Promise<{ key: string; directory: string }> => {
    const key = await home.files.realPath(dir) ?? dir;
    return { key, directory: await sha256Hex(key) };
  };
  const [{ key, directory }, sha256, all, since, server] = await Promise.all([
    project(),
    canonicalDigest(text),
    storedMarkers(home),
    home.bootTime?.(),
    marked.server,
  ]);
  const random = crypto.randomUUID().slice(0, 8);
  const path = `${home.markers}/${formatMarkerName({ directory, epoch: now, random, sha256 })}`;
  const marker: Marker = {
    epoch: now,
    sha256,
    key,
    length: canonicalText(text).length,
    pane,
    socket,
    server,
    since,
  };
  await sweep(home, { all, directory, now });
  const write = (): Promise<void> =>
    home.files.writeText(path, `${JSON.stringify(marker)}\n`, { mode: 0o600 });
  const writeAnyway = async (error: unknown): Promise<void> => {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    await home.files.makeDirectory(home.markers, { mode: 0o700 });
    await write();
  };
  await write().catch(writeAnyway).catch(async (error) => {
    // On a full disk the file may exist without content, and a hook would accept it as a marker.
    await home.files.remove(path).catch(() => false);
    throw error;
  });
  return { path };
}

/** Withdraws a marker because Enter was not sent; false when a hook has already taken it. */
export async function withdrawMarker(home: MarkerHome, handle: MarkerHandle): Promise<boolean> {
  return await home.files.remove(handle.path);
}

/** True once a hook has taken the marker: the message was submitted. */
export async function isTaken(home: MarkerHome, handle: MarkerHandle): Promise<boolean> {
  return (await home.files.info(handle.path)) === undefined;
}

/**
 * True when the submitted prompt is exactly an outstanding injection into this directory or one above it, or a join of
 * several. If the prompt's pane is certain, injections into that pane count in whatever directory the agent works: it
 * may have left the one of its process. The markers are removed: when two calls race for the same one, only one returns
 * true. If several have the same text, one for the pane is taken first, then the oldest.
 */
export async function takeMarker(home: MarkerHome, submitted: MarkedText): Promise<boolean> {
  const { dir, text, now, pane, isPaneSure } = submitted;
  const current = await currentMarkers(home, await storedMarkers(home), now);
  if (current.length === 0) return false;
  const keys = new Set(
    await Promise.all(directoriesAbove(await home.files.realPath(dir) ?? dir).map(sha256Hex)),
  );
  const outstanding = isPaneSure
    ? await ofSurePane(home, current, { ...submitted, keys })
    : current.filter((marker) => keys.has(marker.directory));
  if (outstanding.length === 0) return false;
  const sha256 = await canonicalDigest(text);
  const matching = outstanding.filter((one) => one.sha256 === sha256);
  for (const marker of matching.length > 1 ? await ofPaneFirst(home, matching, pane) : matching) {
    if (await home.files.remove(marker.path)) return true;
  }
  const joined = await matchJoin(canonicalText(text), await withLengths(home, outstanding), canonicalDigest);
  return joined !== undefined && await takeAll(home, joined);
}

interface MarkedPane {
  pane: unknown;
  socket: unknown;
  server: unknown;
}

function panesOf(home: MarkerHome, markers: readonly StoredMarker[]): Promise<MarkedPane[]> {
  return Promise.all(markers.map(async ({ path }) => {
    const content = await home.files.readText(path) ?? "";
    return {
      pane: fieldOf(content, "pane"),
      socket: fieldOf(content, "socket"),
      server: fieldOf(content, "server"),
    };
  }));
}

/** Markers for this pane, and those near its directory that name no pane. */
async function ofSurePane(
  home: MarkerHome,
  markers: readonly StoredMarker[],
  { pane, socket, server, keys }: Pick<MarkedText, "pane" | "socket" | "server"> & {
    keys: ReadonlySet<string>;
  },
): Promise<StoredMarker[]> {
  const panes = pane === undefined ? [] : await panesOf(home, markers);
  return markers.filter(({ directory }, at) => {
    const marked = panes[at];
    if (marked?.pane === undefined) return keys.has(directory);
    if (marked.socket === undefined || socket === undefined) {
      return marked.pane === pane && keys.has(directory);
    }
    const isOther = marked.server !== undefined && server !== undefined && marked.server !== server;
    return marked.pane === pane && marked.socket === socket && !isOther;
  });
}

async function ofPaneFirst(
  home: MarkerHome,
  markers: readonly StoredMarker[],
  pane: string | undefined,
): Promise<StoredMarker[]> {
  const panes = await panesOf(home, markers);
  const isOwn = (at: number): boolean => pane !== undefined && panes[at]?.pane === pane;
  return [...markers.filter((_, at) => isOwn(at)), ...markers.filter((_, at) => !isOwn(at))];
}

async function takeAll(home: MarkerHome, markers: readonly StoredMarker[]): Promise<boolean> {
  const taken = await Promise.all(markers.map((marker) => home.files.remove(marker.path)));
  return taken.every((one) => one);
}

/** The oldest first. */
async function storedMarkers(home: MarkerHome): Promise<StoredMarker[]> {
  const names = await home.files.list(home.markers);
  const markers = names.flatMap((name) => {
    const parsed = parseMarkerName(name);
    return parsed === undefined ? [] : [{ ...parsed, path: `${home.markers}/${name}` }];
  });
  return markers.sort((one, other) => one.epoch - other.epoch);
}

/** The markers with their lengths, except those whose file is gone or broken. */
async function withLengths(
  home: MarkerHome,
  markers: readonly StoredMarker[],
): Promise<(StoredMarker & KnownText)[]> {
  const found = await Promise.all(markers.map(async (marker) => {
    const length = fieldOf(await home.files.readText(marker.path) ?? "", "length");
    return typeof length === "number" ? [{ ...marker, length }] : [];
  }));
  return found.flat();
}

/** Parsed by hand: a hook reads markers at every prompt, and loading a schema would cost more than all its other work. */
function fieldOf(content: string, field: keyof Marker): unknown {
  const marker = parseJson(content)?.value;
  return typeof marker === "object" && marker !== null
    ? new Map(Object.entries(marker)).get(field)
    : undefined;
}

async function sweep(
  home: MarkerHome,
  { all, directory, now }: { all: readonly StoredMarker[]; directory: string; now: number },
): Promise<void> {
  const current = await currentMarkers(home, all, now);
  const expired = all.filter((marker) => !current.includes(marker));
  const own = current.filter((marker) => marker.directory === directory);
  const surplus = own.slice(0, Math.max(0, own.length + 1 - MARKERS_MAX));
  await Promise.all([...expired, ...surplus].map((marker) => home.files.remove(marker.path)));
}

/** A clock that was set in the meantime makes no marker expire. */
async function currentMarkers(
  home: MarkerHome,
  markers: readonly StoredMarker[],
  now: number,
): Promise<StoredMarker[]> {
  const areCurrent = markers.map((marker) => isCurrent(marker, now));
  const uptime = areCurrent.every((one) => one) ? undefined : await home.bootTime?.();
  if (uptime === undefined) return markers.filter((_, at) => areCurrent[at]);
  const areYoung = await Promise.all(markers.map(async ({ path }, at) => {
    if (areCurrent[at]) return true;
    const since = fieldOf(await home.files.readText(path) ?? "", "since");
    if (typeof since !== "object" || since === null || !("boot" in since) || !("ms" in since)) return false;
    const age = uptime.ms - Number(since.ms);
    // A container that was started again has the same boot and a smaller time.
    return since.boot === uptime.boot && age >= 0 && age < MARKER_LIFE_MS;
  }));
  return markers.filter((_, at) => areYoung[at]);
}

/** A clock that was set back must not keep markers forever: one that is a day in the future has expired too. */
function isCurrent(marker: MarkerName, now: number): boolean {
  return Math.abs(now - marker.epoch) < MARKER_LIFE_MS;
}

/** `/a/b/c`, `/a/b`, `/a`, `/`: the agent may have changed into a directory below the project's. */
function directoriesAbove(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  const above = parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
  return ["/", ...above].reverse();
}

export interface MarkerName {
  /** Hex SHA-256 of the project directory's real path. */
  directory: string;
  /** Epoch milliseconds of the injection. */
  epoch: number;
  /** Distinguishes two injections of the same millisecond. */
  random: string;
  /** Hex SHA-256 of the canonical text. */
  sha256: string;
}

const NAME = /^([0-9a-f]{64})\.(\d{1,16})\.([0-9a-f]{8})\.([0-9a-f]{64})$/;

export function formatMarkerName({ directory, epoch, random, sha256 }: MarkerName): string {
  return `${directory}.${epoch}.${random}.${sha256}`;
}

/** Undefined for a file that is not a marker. */
export function parseMarkerName(name: string): MarkerName | undefined {
  const [, directory, epoch, random, sha256] = NAME.exec(name) ?? [];
  if (!directory || !epoch || !random || !sha256) return undefined;
  return { directory, epoch: Number(epoch), random, sha256 };
}

/** A text known only by its digest and its length in characters. */
export interface KnownText {
  sha256: string;
  length: number;
}

/** Blank lines, and whitespace that an agent left at the ends of the parts. */
const GAP = /\s*\n\s*\n\s*/y;
/** A prompt that needs more comparisons than this does not match. */
export const COMPARISONS_MAX = 2_000;

/**
 * Matches a prompt (in canonical form) that an agent joined from queued messages with blank lines between them: the texts
 * of the join in their order, at least two, or undefined. Because the lengths are known, each text is compared at one
 * offset, and the texts themselves need not be stored.
 */
export async function matchJoin<T extends KnownText>(
  prompt: string,
  texts: readonly T[],
  digest: (text: string) => Promise<string>,
): Promise<T[] | undefined> {
  let comparisons = 0;

  async function matchFrom(start: number, index: number): Promise<T[] | undefined> {
    for (const [offset, text] of texts.slice(index).entries()) {
      const end = start + text.length;
      if (end > prompt.length) continue;
      if (++comparisons > COMPARISONS_MAX) return undefined;
      if (await digest(prompt.slice(start, end)) !== text.sha256) continue;
      if (end === prompt.length) return [text];
      const next = gapEnd(prompt, end);
      const rest = next === undefined ? undefined : await matchFrom(next, index + offset + 1);
      if (rest !== undefined) return [text, ...rest];
    }
    return undefined;
  }

  const found = await matchFrom(0, 0);
  return found !== undefined && found.length > 1 ? found : undefined;
}

function gapEnd(prompt: string, start: number): number | undefined {
  GAP.lastIndex = start;
  return GAP.test(prompt) ? GAP.lastIndex : undefined;
}
