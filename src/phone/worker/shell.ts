/** Caches the page's files, so that it opens without a network; other requests go to the relay. */
import type { FetchEvent, WorkerScope } from "./scope.ts";

/** The files of one build. */
export interface Shell {
  /** The digest of the files. */
  version: string;
  /** Relative to the page; `./` is the page itself. */
  files: readonly string[];
}

const CACHE_PREFIX = "svc-shell-";
/** The previous version is kept, too: a page that was opened with it may still load its parts. */
const VERSIONS_KEPT = 2;
const ANY_ENCODING = { ignoreVary: true };

export function keepShell(scope: WorkerScope, shell: Shell): void {
  const name = CACHE_PREFIX + shell.version;
  const urls = new Set(shell.files.map((file) => new URL(file, scope.registration.scope).href));
  scope.addEventListener("install", (event) => event.waitUntil(install()));
  scope.addEventListener("activate", (event) => event.waitUntil(activate()));
  scope.addEventListener("fetch", (event) => {
    const url = shellUrl(event, urls);
    if (url !== undefined) event.respondWith(answer(event.request, url));
  });

  async function install(): Promise<void> {
    const cache = await scope.caches.open(name);
    const requests = [...urls].map((url) =>
      // A hashed part is in the browser's own cache already, as the page has just loaded it.
      new Request(url, { cache: isHashed(new URL(url)) ? "default" : "no-cache" })
    );
    await cache.addAll(requests);
    await scope.skipWaiting();
  }

  async function activate(): Promise<void> {
    const names = (await scope.caches.keys()).filter((one) => one.startsWith(CACHE_PREFIX) && one !== name);
    const outdated = names.slice(0, Math.max(0, names.length - VERSIONS_KEPT + 1));
    await Promise.all(outdated.map((one) => scope.caches.delete(one)));
    await scope.clients.claim();
  }

  async function answer(request: Request, url: string): Promise<Response> {
    const own = await (await scope.caches.open(name)).match(url, ANY_ENCODING);
    return own ?? await scope.caches.match(url, ANY_ENCODING) ?? await scope.fetch(request);
  }
}

/** The URL under which the response is cached, even for an earlier version; undefined if the relay answers. */
function shellUrl({ request }: FetchEvent, urls: ReadonlySet<string>): string | undefined {
  if (request.method !== "GET") return undefined;
  const url = new URL(request.url);
  url.hash = "";
  if (request.mode === "navigate") url.search = "";
  return urls.has(url.href) || isHashed(url) ? url.href : undefined;
}

/** Names of scripts and styles contain their digest. */
function isHashed({ pathname }: URL): boolean {
  return /-[A-Z0-9]{8}\.(js|css)$/.test(pathname);
}
