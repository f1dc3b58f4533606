/** The rules of the tree, each a pure function from facts to descriptions of violations. */

import type { Facts } from "./facts.ts";

/** Folder under `src` → layer; imports point to the same number or down. */
export const LAYERS: Readonly<Record<string, number>> = {
  async: 0,
  protocol: 0,
  runtime: 1,
  crypto: 1,
  client: 1,
  tmux: 2,
  agents: 2,
  home: 2,
  store: 2,
  bus: 2,
  listener: 3,
  relay: 3,
  mcp: 3,
  wrapper: 3,
  hooks: 3,
  phone: 3,
  echo: 3,
  cli: 4,
  library: 5,
};

const PROGRAM_LAYER = 3;

/** Folders that a browser loads, and the only folders they may import from. */
export const BROWSER_SAFE: Readonly<Record<string, readonly string[]>> = {
  async: ["async"],
  protocol: ["async", "protocol"],
  crypto: ["async", "protocol", "crypto"],
  client: ["async", "protocol", "crypto", "client"],
  phone: ["async", "protocol", "crypto", "client", "phone"],
};

/** The files behind `#runtime`; only `src/runtime` may import them directly. */
const RUNTIME_FILES = /^src\/runtime\/(deno|node)(_\w+)?\.ts$/;

const MAX_FILE_LINES = 500;
const MAX_FUNCTION_LINES = 80;
const LONG_FILE_LINES = 450;
const LONG_FUNCTION_LINES = 60;
/** Two parameters, and an object of options. */
const MAX_PARAMETERS = 3;

const folderOf = (path: string): string | undefined => /^src\/([^/]+)\//.exec(path)?.[1];

/** Returns the path in the checkout that a specifier means; undefined for a package. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (specifier === "#runtime" || specifier === "#runtime-lean") return "src/runtime/types.ts";
  if (!specifier.startsWith(".")) return undefined;
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** Returns every import of a file from the checkout, as a path. */
export function importsOf({ path, imports }: Facts): string[] {
  return imports.map((specifier) => resolveImport(path, specifier)).filter((target) => target !== undefined);
}

/** Finds imports of missing files: the type checker ignores an `import()` of a file that does not exist. */
export function missingBreaches(files: readonly Facts[], paths: readonly string[]): string[] {
  const known = new Set(paths);
  return files.flatMap((file) =>
    importsOf(file).filter((target) => /^src\/.*\.tsx?$/.test(target) && !known.has(target))
      .map((target) => `${file.path} imports ${target}, which does not exist`)
  );
}

function directionBreach(from: string, to: string): string | undefined {
  const [source, target] = [folderOf(from) ?? "", folderOf(to)];
  if (target === undefined) return `${from} imports ${to}, which is outside src`;
  const [upper, lower] = [LAYERS[source], LAYERS[target]];
  if (upper === undefined || lower === undefined || source === target) return undefined;
  if (lower > upper) return `${from} (layer ${upper}) imports ${to} (layer ${lower}): imports point down`;
  if (lower === upper && upper === PROGRAM_LAYER) {
    return `${from} imports ${to}: programs never import one another`;
  }
  return undefined;
}

export function layerBreaches(files: readonly Facts[]): string[] {
  const unplaced = files.filter(({ path }) => LAYERS[folderOf(path) ?? ""] === undefined);
  return [
    ...unplaced.map(({ path }) => `${path} is in no layer: its folder has no row in LAYERS`),
    ...files.flatMap((file) => importsOf(file).map((target) => directionBreach(file.path, target) ?? []))
      .flat(),
  ];
}

export function browserBreaches(files: readonly Facts[]): string[] {
  return files.flatMap((file) => {
    const allowed = BROWSER_SAFE[folderOf(file.path) ?? ""];
    if (allowed === undefined) return [];
    return importsOf(file).filter((target) => !allowed.includes(folderOf(target) ?? ""))
      .map((target) => `${file.path} imports ${target}: a browser loads only ${allowed.join(", ")}`);
  });
}

/** The two entries of the checkout, and the folders of `src` that each may import. */
export const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  "cli.ts": ["runtime", "cli"],
  "mod.ts": ["protocol", "crypto", "client", "library"],
};

export function entryBreaches(files: readonly Facts[]): string[] {
  return files.flatMap((file) =>
    importsOf(file).filter((target) => !ENTRIES[file.path]?.includes(folderOf(target) ?? ""))
      .map((target) => `${file.path} imports ${target}: it may import ${ENTRIES[file.path]?.join(", ")}`)
  );
}

export function runtimeBreaches(files: readonly Facts[]): string[] {
  const outside = files.filter(({ path }) => folderOf(path) !== "runtime");
  return outside.flatMap((file) => [
    ...file.runtimeGlobals.map((line) => `${file.path}:${line} names a runtime's global: use #runtime`),
    ...file.imports.filter((specifier) => specifier.startsWith("node:"))
      .map((specifier) => `${file.path} imports ${specifier}: only src/runtime may`),
    ...importsOf(file).filter((target) => RUNTIME_FILES.test(target))
      .map((target) => `${file.path} imports ${target}: write #runtime`),
  ]);
}

export function sizeBreaches(files: readonly Facts[]): string[] {
  return files.flatMap(({ path, lines, functions }) => [
    ...(lines > MAX_FILE_LINES ? [`${path} has ${lines} lines: at most ${MAX_FILE_LINES}`] : []),
    ...functions.filter((one) => one.lines > MAX_FUNCTION_LINES).map((one) =>
      `${path}:${one.firstLine} ${one.name} has ${one.lines} lines: at most ${MAX_FUNCTION_LINES}`
    ),
  ]);
}

/** Returns the files and functions that are long enough to need a reason, as `path` or `path name`. */
export function longOnes(files: readonly Facts[]): string[] {
  return files.flatMap(({ path, lines, functions }) => [
    ...(lines > LONG_FILE_LINES ? [path] : []),
    ...functions.filter((one) => one.lines > LONG_FUNCTION_LINES).map((one) => `${path} ${one.name}`),
  ]);
}

export function parameterBreaches(files: readonly Facts[]): string[] {
  return files.flatMap(({ path, functions }) =>
    functions.filter(({ parameters }) => parameters > MAX_PARAMETERS).map(({ name, firstLine, parameters }) =>
      `${path}:${firstLine} ${name} takes ${parameters} parameters: two, then an object of options`
    )
  );
}

export function namingBreaches(paths: readonly string[]): string[] {
  const isSnakeCase = (path: string): boolean =>
    path.split("/").every((part) => /^[a-z][a-z0-9_]*(\.tsx?)?$/.test(part));
  return paths.filter((path) => !isSnakeCase(path)).map((path) => `${path} is not snake_case`);
}

/** A unit test belongs in the folder under `tests/unit` that its subject has under `src`. */
export function mirrorBreaches(tests: readonly string[], sources: readonly string[]): string[] {
  const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
  const folders = new Set(sources.map(parentOf));
  return tests.filter((path) => !folders.has(parentOf(path).replace("tests/unit", "src")))
    .map((path) => `${path} mirrors nothing: src has no such folder`);
}

export function dutyBreaches(files: readonly Facts[]): string[] {
  return files.filter(({ text }) => !/^(#!.*\n)?\/\*\* ?\S|^(#!.*\n)?\/\*\*\n \* \S/.test(text))
    .map(({ path }) => `${path} does not begin with a sentence on its purpose`);
}

export function syntaxBreaches(files: readonly Facts[]): string[] {
  const suppressed = /deno-lint-ignore|@ts-(?:ignore|nocheck|expect-error)/;
  return files.flatMap(({ path, text, forbidden }) => [
    ...forbidden.map((found) => `${path}:${found}`),
    ...(suppressed.test(text) ? [`${path} silences a check: ${suppressed.exec(text)?.[0]}`] : []),
  ]);
}

export function sleepBreaches(files: readonly Facts[]): string[] {
  return files.flatMap(({ path, sleeps }) =>
    sleeps.map((line) => `${path}:${line} sleeps: wait for a condition`)
  );
}

/** A comparison with elapsed time, or a clock read inside an assertion. */
const TIMED_VERDICT = /now\(\) *- *\w+ *[<>]|assert[.\w]*\([^;]*(?:Date|performance)\.now\(\)[^;]*[<>]/;

export function timedBreaches(files: readonly Facts[]): string[] {
  return files.filter(({ text }) => TIMED_VERDICT.test(text))
    .map(({ path, text }) => `${path} judges by elapsed time: ${TIMED_VERDICT.exec(text)?.[0]}`);
}
