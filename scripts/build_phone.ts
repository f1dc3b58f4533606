/** Builds the phone's page into a folder that the relay serves: `deno run -A scripts/build_phone.ts [folder]`. */
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { sha256Hex } from "../src/async/encodings.ts";
import { STRINGS } from "../src/phone/strings.ts";
import type { Shell } from "../src/phone/worker/shell.ts";
import { type BundleOptions, type Metafile, runEsbuild } from "./run_esbuild.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
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
/** Holds the digest of the sources that the folder was built from. */
const DIGEST_FILE = "sources.sha256";
/** Brotli size limits of the page: until the list of sessions is shown, and of everything. */
export const FIRST_MAX_BYTES = 64 * 1_024;
export const WHOLE_MAX_BYTES = 256 * 1_024;
const MAIN = "src/phone/main.tsx";
/** Files that the list of sessions needs, which the page preloads. */
const FIRST = ["src/phone/boot.ts", "src/phone/begin.ts", MAIN];
/** Files that a session needs, bundled into one because every file costs time on a slow network. */
const SESSION = [
  "src/phone/views/session.tsx",
  "src/phone/views/inbox.tsx",
  "src/phone/sealed_form.ts",
  "src/crypto/host_push.ts",
  "src/crypto/stream.ts",
];
/** Files that the page loads later. */
const LATER = [
  "src/phone/views/start_agent.tsx",
  "src/phone/views/sign_in.tsx",
  "src/phone/views/settings.tsx",
  "src/phone/views/notifications.tsx",
  "src/phone/views/link_reader.tsx",
  "src/phone/push_page.ts",
  "src/phone/views/shortcut_help.tsx",
  "src/phone/views/audit.tsx",
  "src/client/claim_pairing.ts",
  "src/crypto/keys.ts",
];
const PRELOADS = "<!-- preloads -->";
const VERSION_CHARS = 16;
/** Smaller files are not worth a compressed form. */
const COMPRESSED_MIN_BYTES = 256;
/** A compressed form has the file's name with one of these endings. */
const FORM = /\.(br|gz)$/;

export interface BuildPhoneOptions {
  outDir: string;
  /** Builds even if nothing changed. */
  force?: boolean;
}

export interface BuiltFile {
  /** Relative to the folder. */
  path: string;
  bytes: number;
  /** Size in Brotli. */
  wireBytes: number;
  /** Loaded before the list of sessions is shown. */
  isFirst: boolean;
}

export interface BuiltPhone {
  /** False when the folder was up to date. */
  built: boolean;
  files: BuiltFile[];
}

/** Replaces the content of `outDir` with the complete page; throws when it is too large. */
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
  if (first > FIRST_MAX_BYTES || whole > WHOLE_MAX_BYTES) {
    const most = `at most ${FIRST_MAX_BYTES} and ${WHOLE_MAX_BYTES}`;
    throw new Error(
      `Cannot keep the phone's page in "${outDir}": ${first} bytes until the list, ${whole} in all, ${most}`,
    );
  }
  return { built, files };
}

/**
 * Runs one build of this checkout at a time: a second must not replace the folder that the first one's caller serves.
 */
async function alone<T>(build: () => Promise<T>): Promise<T> {
  using lock = await Deno.open(import.meta.filename ?? "");
  await lock.lock(true);
  return await build();
}

/** Sums the Brotli sizes: until the list of sessions is shown, and of everything. */
export function weightsOf(files: readonly BuiltFile[]): { first: number; whole: number } {
  const sum = (some: readonly BuiltFile[]): number =>
    some.reduce((total, { wireBytes }) => total + wireBytes, 0);
  return { first: sum(files.filter(({ isFirst }) => isFirst)), whole: sum(files) };
}

/** Returns every file of the page by name; the names of script and style contain their digest. */
async function pageFiles(digest: string): Promise<Map<string, Uint8Array>> {
  const { files, meta } = await bundlePage();
  const first = neededBy(FIRST, meta);
  const [script = "", ...others] = first;
  const ofSession = neededBy(["together session:session", "src/phone/terminal_screen.ts"], meta);
  const texts = {
    ...STRINGS.app,
    script,
    style: nameOf(files, /\.css$/),
    sessionFiles: ofSession.filter((name) => !first.includes(name)).join(" "),
  };
  const preloads = others.map((name) => `<link rel="modulepreload" href="${name}">`).join("\n    ");
  const encoder = new TextEncoder();
  for (const name of ["index.html", "manifest.webmanifest"]) {
    const template = fill(await Deno.readTextFile(PHONE + name), texts);
    files.set(name, encoder.encode(template.replace(PRELOADS, preloads)));
  }
  files.set("icon.svg", await Deno.readFile(`${PHONE}icon.svg`));
  const worker = await bundle(workerOptions(await shellOf(files)));
  for (const [name, bytes] of worker.files) files.set(name, bytes);
  for (const [name, bytes] of [...files]) addForms(files, { name, bytes });
  files.set(DIGEST_FILE, encoder.encode(digest));
  return files;
}

/** Returns the built files of these entry points and everything they import statically, the first one first. */
function neededBy(sources: readonly string[], { outputs }: Metafile): string[] {
  const found = new Set<string>();
  const add = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind === "import-statement") add(imported);
    }
  };
  for (const source of sources) {
    const [path] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source) ?? [];
    if (path === undefined) throw new Error(`Cannot build the phone's page: nothing came out for ${source}`);
    add(path);
  }
  return [...found].map(fileName);
}

/** Adds the file in each compressed encoding. */
function addForms(
  files: Map<string, Uint8Array>,
  { name, bytes }: { name: string; bytes: Uint8Array },
): void {
  if (bytes.length < COMPRESSED_MIN_BYTES) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  files.set(`${name}.br`, brotliCompressSync(bytes, { params }));
  files.set(`${name}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
}

/** Returns the files that the service worker stores, with a version that changes with any of them. */
async function shellOf(files: ReadonlyMap<string, Uint8Array>): Promise<Shell> {
  const names = [...files.keys()].sort();
  const parts = names.flatMap((name) => [name, new TextDecoder().decode(files.get(name))]);
  const version = (await sha256Hex(parts.join("\0"))).slice(0, VERSION_CHARS);
  return { version, files: names.map((name) => name === "index.html" ? "./" : name) };
}

const COMMON: BundleOptions = {
  minify: true,
  platform: "browser",
  target: ["es2022", "safari16.4", "chrome111", "firefox113"],
  legalComments: "none",
};

/** Bundles the scripts and the style sheet. */
async function bundlePage(): Promise<Bundle> {
  return withoutIdleImports(
    await bundle({
      ...COMMON,
      entryPoints: { boot: `${PHONE}boot.ts`, style: `${PHONE}styles.css` },
      entryNames: "[name]-[hash]",
      chunkNames: "[name]-[hash]",
      splitting: true,
      together: [{ name: "session", files: SESSION, after: MAIN }, {
        name: "later",
        files: LATER,
        after: MAIN,
      }],
      format: "esm",
      jsx: "automatic",
      jsxImportSource: "preact",
    }),
  );
}

/** Removes imports that esbuild adds though the file uses nothing of the chunk; no chunk has side effects. */
function withoutIdleImports({ files, meta }: Bundle): Bundle {
  for (const [path, output] of Object.entries(meta.outputs)) {
    const name = fileName(path);
    let text = new TextDecoder().decode(files.get(name));
    for (const { path: imported } of [...output.imports]) {
      const idle = `import"./${fileName(imported)}";`;
      if (!text.includes(idle)) continue;
      text = text.replace(idle, "");
      files.set(name, new TextEncoder().encode(text));
      output.imports = output.imports.filter((one) => one.path !== imported);
    }
  }
  return { files, meta };
}

function fileName(path: string): string {
  return path.split("/").at(-1) ?? "";
}

/** A classic script under a fixed name: not every browser runs modules as service workers. */
function workerOptions(shell: Shell): BundleOptions {
  return {
    ...COMMON,
    entryPoints: { service_worker: `${PHONE}service_worker.ts` },
    format: "iife",
    define: { SHELL: JSON.stringify(shell) },
  };
}

interface Bundle {
  /** By name. */
  files: Map<string, Uint8Array>;
  meta: Metafile;
}

async function bundle(options: BundleOptions): Promise<Bundle> {
  const outdir = await Deno.makeTempDir({ prefix: "svc-page-" });
  try {
    const meta = await runEsbuild({ ...options, outdir, metafile: true });
    const names = [...Deno.readDirSync(outdir)].map(({ name }) => name);
    const files = names.map(async (name): Promise<[string, Uint8Array]> => [
      name,
      await Deno.readFile(`${outdir}/${name}`),
    ]);
    return { files: new Map(await Promise.all(files)), meta: meta ?? { inputs: {}, outputs: {} } };
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
  const names = [...Deno.readDirSync(outDir)].map(({ name }) => name);
  const page = await Deno.readTextFile(`${outDir}/index.html`);
  const size = async (name: string): Promise<number> => (await Deno.stat(`${outDir}/${name}`)).size;
  return await Promise.all(
    names.filter((name) => name !== DIGEST_FILE && !FORM.test(name)).sort().map(async (path) => ({
      path,
      bytes: await size(path),
      wireBytes: await size(names.includes(`${path}.br`) ? `${path}.br` : path),
      isFirst: path === "index.html" || page.includes(`"${path}"`),
    })),
  );
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
  const lines = files.map(({ path, bytes, wireBytes, isFirst }) =>
    `${isFirst ? "* " : "  "}${path}  ${bytes} bytes, ${wireBytes} over the wire`
  );
  const { first, whole } = weightsOf(files);
  const summary = `${
    built ? "built" : "up to date"
  }: ${outDir}, ${first} bytes until the list (*), ${whole} in all`;
  await Deno.stdout.write(new TextEncoder().encode([...lines, summary, ""].join("\n")));
}
