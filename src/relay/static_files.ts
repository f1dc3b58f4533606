/** Serves the phone's web app, read into memory at start so that no path can reach any other file. */
import { runtime } from "#runtime";
import { sha256 } from "../runtime/digest.ts";
import { encodeBase64url } from "../async/encodings.ts";

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

/** Names of scripts and styles contain a digest of their content, so the content under such a name never changes. */
const HASHED = /-[A-Z0-9]{8}\.(js|css)$/;
const YEAR_SECONDS = 31_536_000;

/** Compressed forms that the build puts next to a file, by the ending of their names, the smaller one first. */
const ENCODINGS = { br: "br", gz: "gzip" } as const;
type Encoding = (typeof ENCODINGS)[keyof typeof ENCODINGS] | "identity";

/** The bytes of a file in one encoding. */
interface Form {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
}

interface StaticFile {
  type: string;
  isHashed: boolean;
  /** The smallest first; `identity` is always there. */
  forms: ReadonlyMap<Encoding, Form>;
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
    files.set(prefix + name, { type, isHashed: HASHED.test(name), forms: await readForms(path) });
  }
}

async function readForms(path: string): Promise<StaticFile["forms"]> {
  const forms = new Map<Encoding, Form>();
  for (const [ending, encoding] of [...Object.entries(ENCODINGS), ["", "identity"] as const]) {
    const read = await runtime.files.readBytes(ending === "" ? path : `${path}.${ending}`);
    if (read === undefined) continue;
    const bytes = new Uint8Array(read);
    forms.set(encoding, { bytes, etag: `"${encodeBase64url(sha256(bytes)).slice(0, 22)}"` });
  }
  return forms;
}

/** The file, or 304 when the caller's copy is current; undefined when there is no such file. */
export function serveStatic(files: StaticFiles, request: Request): Response | undefined {
  const file = files.get(new URL(request.url).pathname);
  if (file === undefined) return undefined;
  const encoding = acceptedEncoding(request.headers.get("accept-encoding") ?? "", file);
  const form = file.forms.get(encoding);
  if (form === undefined) return undefined;
  const headers: Record<string, string> = {
    ...pageHeaders(request),
    "cache-control": file.isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : "no-cache",
    "content-type": file.type,
    etag: form.etag,
  };
  if (encoding !== "identity") headers["content-encoding"] = encoding;
  if (file.forms.size > 1) headers.vary = "accept-encoding";
  if (hasEtag(request.headers.get("if-none-match"), form)) {
    return new Response(null, { status: 304, headers });
  }
  if (request.method === "HEAD") return new Response(null, { headers });
  headers["content-length"] = String(form.bytes.length);
  return new Response(inParts(form.bytes), { headers });
}

/** The smallest form that the header allows. */
function acceptedEncoding(header: string, { forms }: StaticFile): Encoding {
  const accepted = new Map(
    header.toLowerCase().split(",").map((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
      return [name, !parameters.some((text) => /^q=0(\.0*)?$/.test(text))];
    }),
  );
  return [...forms.keys()].find((encoding) => accepted.get(encoding) ?? accepted.get("*")) ?? "identity";
}

/** A proxy that compresses by itself marks the tag as weak. */
function hasEtag(header: string | null, { etag }: Form): boolean {
  return header?.split(",").some((one) => one.trim().replace(/^W\//, "") === etag) ?? false;
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
    // Where the browser supports Trusted Types, only the page's own policy can turn a string into a script or its URL.
    "require-trusted-types-for": "'script'",
    "trusted-types": "svc",
  };
  return {
    "content-security-policy": Object.entries(policy).map((entry) => entry.join(" ")).join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };
}

/** Some browsers do not treat WebSockets of the page's own host as 'self'. */
function socketSources(request: Request): string {
  const host = request.headers.get("host") ?? "";
  return /^[A-Za-z0-9.-]+(:[0-9]+)?$|^\[[0-9A-Fa-f:]+\](:[0-9]+)?$/.test(host)
    ? ` ws://${host} wss://${host}`
    : "";
}
