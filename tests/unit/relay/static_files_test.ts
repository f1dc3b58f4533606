/** The phone's web app is served from memory with a strict policy, and no other file is reachable. */
import assert from "node:assert/strict";
import { readStaticFiles } from "../../../src/relay/static_files.ts";
import { Fixture } from "./fixture.ts";

async function withPage(body: (relay: Fixture) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "svc-static-" });
  try {
    await Deno.mkdir(`${root}/page/icons`, { recursive: true });
    await Deno.writeTextFile(`${root}/secret.txt`, "secret");
    await Deno.writeTextFile(`${root}/page/index.html`, "<!doctype html>");
    await Deno.writeTextFile(`${root}/page/app.js`, "let x;");
    await Deno.writeTextFile(`${root}/page/icons/a.svg`, "<svg/>");
    await Deno.writeTextFile(`${root}/page/.env`, "KEY=1");
    await using relay = await Fixture.make(await readStaticFiles(`${root}/page`));
    await body(relay);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("the page is served at / with its type, and its parts at their paths [ph-served]", () =>
  withPage(async (relay) => {
    const types: Record<string, string> = {};
    for (const path of ["/", "/index.html", "/app.js", "/icons/a.svg"]) {
      const answer = await relay.request("GET", path);
      assert.equal(answer.status, 200, path);
      types[path] = answer.headers.get("content-type") ?? "";
      await answer.body?.cancel();
    }
    assert.match(types["/"] ?? "", /^text\/html/);
    assert.match(types["/app.js"] ?? "", /^text\/javascript/);
    assert.equal(types["/icons/a.svg"], "image/svg+xml");
  }));

Deno.test("only the page's files are served, however the path is written [sec-csp]", () =>
  withPage(async (relay) => {
    for (
      const path of [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/icons/../../secret.txt",
        "//secret.txt",
        "/.env",
        "/icons/",
        "/icons",
        "/app.js/",
        "/page/app.js",
        "/%00",
      ]
    ) {
      const answer = await relay.request("GET", path);
      assert.equal(answer.status, 404, path);
      assert.doesNotMatch(await answer.text(), /secret|KEY=1/);
    }
  }));

Deno.test("the policy allows only the page's own host [sec-csp]", () =>
  withPage(async (relay) => {
    const policyFor = async (host: string): Promise<string> => {
      const answer = await relay.request("GET", "/", { headers: { host } });
      await answer.body?.cancel();
      return answer.headers.get("content-security-policy") ?? "";
    };
    const policy = await policyFor("relay.example:7420");
    for (
      const part of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self' ws://relay.example:7420 wss://relay.example:7420",
        "manifest-src 'self'",
        "worker-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]
    ) assert.ok(policy.split("; ").includes(part), part);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.doesNotMatch(await policyFor("x; script-src *"), /script-src \*/);
    const answer = await relay.request("GET", "/");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
    await answer.body?.cancel();
  }));

Deno.test("a copy that is current is not sent again", () =>
  withPage(async (relay) => {
    const first = await relay.request("GET", "/app.js");
    await first.body?.cancel();
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    const again = await relay.request("GET", "/app.js", { headers });
    assert.deepEqual([again.status, await again.text()], [304, ""]);
    const other = await relay.request("GET", "/", { headers });
    assert.equal(other.status, 200);
    await other.body?.cancel();
  }));

Deno.test("a relay without a page answers 404 at /", async () => {
  await using relay = await Fixture.make();
  assert.equal((await relay.request("GET", "/")).status, 404);
});

Deno.test("a file is served in the smallest form that the browser accepts, each with a different tag [ph-fast]", async () => {
  const root = await Deno.makeTempDir({ prefix: "svc-static-" });
  try {
    for (const [ending, text] of [["", "plain"], [".br", "brotli"], [".gz", "gzipped"]]) {
      await Deno.writeTextFile(`${root}/app-ABCDEFG1.js${ending}`, text ?? "");
    }
    await Deno.writeTextFile(`${root}/index.html`, "<!doctype html>");
    await using relay = await Fixture.make(await readStaticFiles(root));
    const get = (accepted?: string, more: Record<string, string> = {}): Promise<Response> =>
      relay.request("GET", "/app-ABCDEFG1.js", {
        headers: { ...(accepted === undefined ? {} : { "accept-encoding": accepted }), ...more },
      });
    const cases: [string | undefined, string | null, string][] = [
      ["gzip, deflate, br, zstd", "br", "brotli"],
      ["GZIP", "gzip", "gzipped"],
      ["br;q=0, gzip;q=0.5", "gzip", "gzipped"],
      ["br;q=0.0, gzip;q=0", null, "plain"],
      ["*", "br", "brotli"],
      ["identity", null, "plain"],
      [undefined, null, "plain"],
    ];
    const tags = new Set<string>();
    for (const [accepted, encoding, text] of cases) {
      const answer = await get(accepted);
      assert.equal(answer.headers.get("content-encoding"), encoding, `for ${accepted}`);
      assert.equal(answer.headers.get("vary"), "accept-encoding");
      assert.equal(answer.headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.match(answer.headers.get("content-type") ?? "", /javascript/);
      tags.add(answer.headers.get("etag") ?? "");
      assert.equal(await answer.text(), text);
    }
    assert.equal(tags.size, 3);
    const tag = (await get("br")).headers.get("etag") ?? "";
    assert.equal((await get("br", { "if-none-match": `"other", W/${tag}` })).status, 304);
    assert.equal((await get("gzip", { "if-none-match": tag })).status, 200, "another form is another entity");
    const page = await relay.request("GET", "/");
    assert.equal(page.headers.get("cache-control"), "no-cache", "a name without a digest may change");
    assert.equal((await relay.request("GET", "/app-ABCDEFG1.js.br")).status, 404);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
