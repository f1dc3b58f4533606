/** Serves the phone's web app, read into memory at start so that no path can reach any other file. */
import { runtime } from "#runtime";
import { sha256 } from "../runtime/digest.ts";
import { encodeBase64url } from "../async/base64url.ts";

const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  webmanifest: "application/manifest+json",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2",
  txt: "text/plain; charset=utf-8",
};

/** Bytes of a file copied at a time for one answer. */
const PART_BYTES = 32_768;
/** How many levels of folders are read. */
const DEPTH_MAX = 4;

interface StaticFile {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
}

/** Files by path, which starts with a slash; `/` is `index.html`. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

/** Reads every file of a known type in `directory`. */
export async function readStaticFiles(directory: string): Promise<StaticFiles> {
  const files = new Map<string, StaticFile>();
  await addFiles(files, { directory, prefix: "/", depth: 0 });
  const index = files.get("/index.html");
  if (index !== undefined) files.set("/", index);
  return files;
}

async function addFiles(
  files: Map<string, StaticFile>,
  { directory, prefix, depth }: { directory: string; prefix: string; depth: number },
): Promise<void> {
  if (depth > DEPTH_MAX) return;
  for (const name of await runtime.files.list(directory)) {
    const path = `${directory}/${name}`;
    const info = await runtime.files.info(path);
    if (info?.isDirectory) {
      await addFiles(files, { directory: path, prefix: `${prefix}${name}/`, depth: depth + 1 });
    }
    const type = TYPES[name.split(".").pop() ?? ""];
    if (!info?.isFile || type === undefined) continue;
    const bytes = new Uint8Array(await runtime.files.readBytes(path) ?? []);
    files.set(prefix + name, { bytes, type, etag: `"${encodeBase64url(sha256(bytes)).slice(0, 22)}"` });
  }
}

/** The file, or 304 when the caller's copy is current; undefined when there is no such file. */
export function serveStatic(files: StaticFiles, request: Request): Response | undefined {
  const file = files.get(new URL(request.url).pathname);
  if (file === undefined) return undefined;
  const headers: Record<string, string> = {
    ...pageHeaders(request),
    "content-type": file.type,
    etag: file.etag,
  };
  if (request.headers.get("if-none-match") === file.etag) return new Response(null, { status: 304, headers });
  if (request.method === "HEAD") return new Response(null, { headers });
  headers["content-length"] = String(file.bytes.length);
  return new Response(inParts(file.bytes), { headers });
}

/** Copies only as far as the peer has read, so that a peer that reads nothing holds at most one part. */
function inParts(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + PART_BYTES));
      at += PART_BYTES;
    },
  }, { highWaterMark: 0 });
}

/** Allows no foreign content, no inline scripts or styles, and no embedding in a frame. */
function pageHeaders(request: Request): Record<string, string> {
  const policy = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": `'self'${socketSources(request)}`,
    "manifest-src": "'self'",
    "worker-src": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    // Where the browser has them: only the page's own policy makes strings that are loaded as scripts.
    "require-trusted-types-for": "'script'",
    "trusted-types": "svc",
  };
  return {
    "content-security-policy": Object.entries(policy).map((entry) => entry.join(" ")).join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
  };
}

/** Some browsers do not treat WebSockets of the page's own host as 'self'. */
function socketSources(request: Request): string {
  const host = request.headers.get("host") ?? "";
  return /^[A-Za-z0-9.-]+(:[0-9]+)?$|^\[[0-9A-Fa-f:]+\](:[0-9]+)?$/.test(host)
    ? ` ws://${host} wss://${host}`
    : "";
}
