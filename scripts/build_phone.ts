/** Builds the phone's page into a folder that the relay serves: `deno run -A scripts/build_phone.ts [folder]`. */
import { STRINGS } from "../src/phone/strings.ts";
import { runEsbuild } from "./run_esbuild.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const PHONE = `${ROOT}src/phone/`;
/** Folders and files on which the page depends; a change in any of them builds it anew. */
const SOURCES = [
  "src/phone",
  "src/client",
  "src/protocol",
  "deno.json",
  "deno.lock",
  "scripts/build_phone.ts",
  "scripts/run_esbuild.ts",
];
/** Holds the digest of the sources from which the folder was built. */
const DIGEST_FILE = "sources.sha256";
/** What the page may weigh over the wire. */
export const PAGE_MAX_GZIP_BYTES = 150 * 1_024;

export interface BuildPhoneOptions {
  outDir: string;
  /** Builds also when nothing changed. */
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

/** Leaves the whole page, and nothing older, in `outDir`; throws when it weighs over `PAGE_MAX_GZIP_BYTES`. */
export async function buildPhone({ outDir, force = false }: BuildPhoneOptions): Promise<BuiltPhone> {
  const digest = await sourcesDigest();
  const fresh = !force && await readOrEmpty(`${outDir}/${DIGEST_FILE}`) === digest;
  if (!fresh) await replaceFolder(outDir, await pageFiles(digest));
  const files = await measure(outDir);
  const weight = files.reduce((sum, file) => sum + file.gzipBytes, 0);
  if (weight > PAGE_MAX_GZIP_BYTES) {
    throw new Error(
      `Cannot keep the phone's page in "${outDir}": ${weight} bytes gzip, at most ${PAGE_MAX_GZIP_BYTES}`,
    );
  }
  return { built: !fresh, files };
}

/** Every file of the page by its name: script and style carry their digest in theirs. */
async function pageFiles(digest: string): Promise<Map<string, Uint8Array>> {
  const [script, style] = await bundle();
  const words = { ...STRINGS.app, script: script.name, style: style.name };
  const encoder = new TextEncoder();
  const files = new Map<string, Uint8Array>([[script.name, script.bytes], [style.name, style.bytes]]);
  for (const name of ["index.html", "manifest.webmanifest"]) {
    files.set(name, encoder.encode(fill(await Deno.readTextFile(PHONE + name), words)));
  }
  files.set("icon.svg", await Deno.readFile(`${PHONE}icon.svg`));
  files.set(DIGEST_FILE, encoder.encode(digest));
  return files;
}

interface Asset {
  name: string;
  bytes: Uint8Array;
}

async function bundle(): Promise<[script: Asset, style: Asset]> {
  const outdir = await Deno.makeTempDir({ prefix: "svc-page-" });
  try {
    await runEsbuild({
      entryPoints: { app: `${PHONE}main.tsx`, style: `${PHONE}styles.css` },
      entryNames: "[name]-[hash]",
      outdir,
      minify: true,
      format: "esm",
      platform: "browser",
      target: ["es2022", "safari16.4", "chrome111", "firefox113"],
      jsx: "automatic",
      jsxImportSource: "preact",
      legalComments: "none",
    });
    return [await asset(outdir, ".js"), await asset(outdir, ".css")];
  } finally {
    await Deno.remove(outdir, { recursive: true });
  }
}

async function asset(folder: string, ending: string): Promise<Asset> {
  const name = [...Deno.readDirSync(folder)].find((entry) => entry.name.endsWith(ending))?.name;
  if (name === undefined) throw new Error(`Cannot build the phone's page: no file with "${ending}" came out`);
  return { name, bytes: await Deno.readFile(`${folder}/${name}`) };
}

function fill(template: string, words: Record<string, string>): string {
  return template.replace(/\{\{ ?(\w+) ?\}\}/g, (_whole, name: string) => {
    const word = words[name];
    if (word === undefined) throw new Error(`Cannot fill "{{${name}}}": no such text in STRINGS.app`);
    return word.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  });
}

/** Writes beside and renames over: whoever builds at the same time finds a whole page. */
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
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(parts.join("\0")));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
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
  const total = files.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);
  const summary = `${built ? "built" : "up to date"}: ${outDir}, ${total} bytes gzip`;
  await Deno.stdout.write(new TextEncoder().encode([...lines, summary, ""].join("\n")));
}
