/** Builds the phone's page into a folder that the relay serves: `deno run -A scripts/build_phone.ts [folder]`. */
import { sha256Hex } from "../src/async/sha256.ts";
import { STRINGS } from "../src/phone/strings.ts";
import type { Shell } from "../src/phone/worker/shell.ts";
import { type BuildOptions, runEsbuild } from "./run_esbuild.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const PHONE = `${ROOT}src/phone/`;
/** Folders and files on which the page depends; a change in any of them triggers a build. */
const SOURCES = [
  "src/async",
  "src/phone",
  "src/client",
  "src/crypto",
  "src/protocol",
  "deno.json",
  "deno.lock",
  "scripts/build_phone.ts",
  "scripts/run_esbuild.ts",
];
/** Holds the digest of the sources from which the folder was built. */
const DIGEST_FILE = "sources.sha256";
/** Size limits of the page over the wire, without and with the terminal. */
export const PAGE_MAX_GZIP_BYTES = 150 * 1_024;
export const WHOLE_MAX_GZIP_BYTES = 300 * 1_024;
const VERSION_CHARS = 16;
/** Loaded when a terminal is first shown. */
const LAZY = /^terminal_screen-/;

export interface BuildPhoneOptions {
  outDir: string;
  /** Builds even if nothing changed. */
  force?: boolean;
}

export interface BuiltFile {
  /** Relative to the folder. */
  path: string;
  bytes: number;
  gzipBytes: number;
}

export interface BuiltPhone {
  /** False when the folder was up to date. */
  built: boolean;
  files: BuiltFile[];
}

/** Replaces the content of `outDir` by the complete page; throws when it is too large. */
export async function buildPhone({ outDir, force = false }: BuildPhoneOptions): Promise<BuiltPhone> {
  const digest = await sourcesDigest();
  const isFresh = async (): Promise<boolean> =>
    !force && await readOrEmpty(`${outDir}/${DIGEST_FILE}`) === digest;
  const built = !await isFresh() && await alone(async () => {
    if (await isFresh()) return false;
    await replaceFolder(outDir, await pageFiles(digest));
    return true;
  });
  const files = await measure(outDir);
  const { first, whole } = weightsOf(files);
  if (first > PAGE_MAX_GZIP_BYTES || whole > WHOLE_MAX_GZIP_BYTES) {
    const most = `at most ${PAGE_MAX_GZIP_BYTES} and ${WHOLE_MAX_GZIP_BYTES}`;
    throw new Error(
      `Cannot keep the phone's page in "${outDir}": ${first} bytes gzip, ${whole} with the terminal, ${most}`,
    );
  }
  return { built, files };
}

/** One build of this checkout at a time: the second must not replace the folder that the first one's caller serves. */
async function alone<T>(build: () => Promise<T>): Promise<T> {
  using lock = await Deno.open(import.meta.filename ?? "");
  await lock.lock(true);
  return await build();
}

/** Bytes over the wire: to see the page, and with the terminal. */
export function weightsOf(files: readonly BuiltFile[]): { first: number; whole: number } {
  const sum = (some: readonly BuiltFile[]): number =>
    some.reduce((total, { gzipBytes }) => total + gzipBytes, 0);
  return { first: sum(files.filter(({ path }) => !LAZY.test(path))), whole: sum(files) };
}

/** Every file of the page by its name; the names of script and style contain their digest. */
async function pageFiles(digest: string): Promise<Map<string, Uint8Array>> {
  const files = await bundlePage();
  const texts = { ...STRINGS.app, script: nameOf(files, /^app-.*\.js$/), style: nameOf(files, /\.css$/) };
  const encoder = new TextEncoder();
  for (const name of ["index.html", "manifest.webmanifest"]) {
    files.set(name, encoder.encode(fill(await Deno.readTextFile(PHONE + name), texts)));
  }
  files.set("icon.svg", await Deno.readFile(`${PHONE}icon.svg`));
  files.set("icon.svg", await Deno.readFile(`${PHONE}icon.svg`));
  for (const [name, bytes] of await bundleWorker(await shellOf(files))) files.set(name, bytes);
  files.set(DIGEST_FILE, encoder.encode(digest));
  return files;
}

/** What the service worker keeps: every file, by a version that changes with any of them. */
async function shellOf(files: ReadonlyMap<string, Uint8Array>): Promise<Shell> {
  const names = [...files.keys()].sort();
  const parts = names.flatMap((name) => [name, new TextDecoder().decode(files.get(name))]);
  const version = (await sha256Hex(parts.join("\0"))).slice(0, VERSION_CHARS);
  return { version, files: names.map((name) => name === "index.html" ? "./" : name) };
}

const COMMON: BuildOptions = {
  minify: true,
  platform: "browser",
  target: ["es2022", "safari16.4", "chrome111", "firefox113"],
  legalComments: "none",
};

/** Scripts and style by their names. */
function bundlePage(): Promise<Map<string, Uint8Array>> {
  return bundle({
    ...COMMON,
    entryPoints: { app: `${PHONE}main.tsx`, style: `${PHONE}styles.css` },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    splitting: true,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
}

/** A classic script: not every browser runs modules as service workers. Its name stays the same. */
function bundleWorker(shell: Shell): Promise<Map<string, Uint8Array>> {
  return bundle({
    ...COMMON,
    entryPoints: { service_worker: `${PHONE}service_worker.ts` },
    format: "iife",
    define: { SHELL: JSON.stringify(shell) },
  });
}

async function bundle(options: BuildOptions): Promise<Map<string, Uint8Array>> {
  const outdir = await Deno.makeTempDir({ prefix: "svc-page-" });
  try {
    await runEsbuild({ ...options, outdir });
    const names = [...Deno.readDirSync(outdir)].map(({ name }) => name);
    const files = names.map(async (name): Promise<[string, Uint8Array]> => [
      name,
      await Deno.readFile(`${outdir}/${name}`),
    ]);
    return new Map(await Promise.all(files));
  } finally {
    await Deno.remove(outdir, { recursive: true });
  }
}

function nameOf(files: ReadonlyMap<string, Uint8Array>, pattern: RegExp): string {
  const name = [...files.keys()].find((one) => pattern.test(one));
  if (name === undefined) throw new Error(`Cannot build the phone's page: no file like ${pattern} came out`);
  return name;
}

function fill(template: string, texts: Record<string, string>): string {
  return template.replace(/\{\{ ?(\w+) ?\}\}/g, (_whole, name: string) => {
    const text = texts[name];
    if (text === undefined) throw new Error(`Cannot fill "{{${name}}}": no such text in STRINGS.app`);
    return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  });
}

/** Writes to a temporary folder and renames it, so that concurrent builds see a complete page. */
async function replaceFolder(outDir: string, files: Map<string, Uint8Array>): Promise<void> {
  const fresh = `${outDir}.new-${crypto.randomUUID()}`;
  await Deno.mkdir(fresh, { recursive: true });
  for (const [name, bytes] of files) await Deno.writeFile(`${fresh}/${name}`, bytes);
  await Deno.remove(outDir, { recursive: true }).catch(ignoreMissing);
  try {
    await Deno.rename(fresh, outDir);
  } catch (error) {
    await Deno.remove(fresh, { recursive: true });
    if (await readOrEmpty(`${outDir}/${DIGEST_FILE}`) === "") throw error;
  }
}

async function measure(outDir: string): Promise<BuiltFile[]> {
  const names = [...Deno.readDirSync(outDir)].map(({ name }) => name).filter((name) => name !== DIGEST_FILE);
  return await Promise.all(
    names.sort().map(async (path) => {
      const bytes = await Deno.readFile(`${outDir}/${path}`);
      return { path, bytes: bytes.length, gzipBytes: await gzipSize(bytes) };
    }),
  );
}

async function gzipSize(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(packed).arrayBuffer()).byteLength;
}

async function sourcesDigest(): Promise<string> {
  const parts: string[] = [];
  for (const source of SOURCES) {
    for (const path of await filesUnder(ROOT + source)) parts.push(path, await Deno.readTextFile(path));
  }
  return await sha256Hex(parts.join("\0"));
}

async function filesUnder(path: string): Promise<string[]> {
  if ((await Deno.stat(path)).isFile) return [path];
  const found = [...Deno.readDirSync(path)].map(({ name }) => filesUnder(`${path}/${name}`));
  return (await Promise.all(found)).flat().sort();
}

async function readOrEmpty(path: string): Promise<string> {
  return await Deno.readTextFile(path).catch((error) => {
    ignoreMissing(error);
    return "";
  });
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

if (import.meta.main) {
  const outDir = Deno.args[0] ?? `${ROOT}dist/phone`;
  const { built, files } = await buildPhone({ outDir });
  const lines = files.map(({ path, bytes, gzipBytes }) => `  ${path}  ${bytes} bytes, ${gzipBytes} gzip`);
  const { first, whole } = weightsOf(files);
  const summary = `${
    built ? "built" : "up to date"
  }: ${outDir}, ${first} bytes gzip, ${whole} with the terminal`;
  await Deno.stdout.write(new TextEncoder().encode([...lines, summary, ""].join("\n")));
}
