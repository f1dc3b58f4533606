/** Which relay and which key take precedence. */
import assert from "node:assert/strict";
import {
  hostApiKey,
  hostBaseUrl,
  listenerApiKey,
  resolveBaseUrl,
  resolveWsUrl,
  scriptApiKey,
} from "../../../src/home/config.ts";

const option = "ws://option/ws";
const config = { wsUrl: "ws://config/ws" };
const env = { SVC_WS_URL: "ws://environment/ws" };

Deno.test("--ws-url wins over the file, the file over SVC_WS_URL [env-ws-precedence, env-ws-url]", () => {
  assert.deepEqual(resolveWsUrl({ option, config, env }), { url: option, source: "option" });
  assert.deepEqual(resolveWsUrl({ config, env }), { url: config.wsUrl, source: "config" });
  assert.deepEqual(resolveWsUrl({ config: {}, env }), { url: env.SVC_WS_URL, source: "environment" });
  assert.equal(resolveWsUrl({ config: {}, env: {} }), undefined);
});

Deno.test("empty values count as not set", () => {
  assert.deepEqual(resolveWsUrl({ option: "", config: { wsUrl: "" }, env })?.source, "environment");
});

Deno.test("an address that is not a WebSocket's is refused with its source", () => {
  assert.throws(
    () => resolveWsUrl({ config: { wsUrl: "http://h" }, env: {} }),
    /"http:\/\/h" \(wsUrl in config\.json\).*must be ws:\/\//,
  );
});

Deno.test("the HTTP address is SVC_BASE_URL, else the file's, else derived from the WebSocket's", () => {
  const both = { ...config, baseUrl: "https://file/" };
  assert.equal(resolveBaseUrl({ config: both, env: { SVC_BASE_URL: "http://env/" } }), "http://env");
  assert.equal(resolveBaseUrl({ config: both, env: {} }), "https://file");
  assert.equal(resolveBaseUrl({ config, env: {} }), "http://config");
  assert.equal(resolveBaseUrl({ config: {}, env: {} }), undefined);
});

Deno.test("the host's HTTP address is the one of its WebSocket's relay, whatever SVC_BASE_URL names [env-one-relay]", () => {
  const named = { SVC_BASE_URL: "http://other" };
  assert.equal(hostBaseUrl({ config, env: named }), "http://config");
  assert.equal(hostBaseUrl({ config: { baseUrl: "https://file/" }, env: named }), "https://file");
  assert.equal(hostBaseUrl({ config: {}, env: named }), undefined);
});

Deno.test("baseUrl of the file belongs to wsUrl of the file: another WebSocket address has its own [env-one-relay]", () => {
  const both = { ...config, baseUrl: "https://file/" };
  assert.equal(hostBaseUrl({ config: both, env }), "https://file");
  assert.equal(hostBaseUrl({ option, config: both, env: {} }), "http://option");
  assert.equal(hostBaseUrl({ config: { baseUrl: "https://file" }, env }), "http://environment");
});

Deno.test("an address that is not an HTTP address is refused with its source", () => {
  assert.throws(
    () => resolveBaseUrl({ config, env: { SVC_BASE_URL: "localhost:7420" } }),
    /"localhost:7420" \(SVC_BASE_URL\): it must be http:\/\/HOST or https:\/\/HOST\.$/,
  );
  for (const baseUrl of ["relay.example", "ws://h/ws", "http://"]) {
    assert.throws(() => resolveBaseUrl({ config: { baseUrl }, env: {} }), /\(baseUrl in config\.json\)/);
  }
});

Deno.test("an address with a user or a password is refused, without repeating it", () => {
  for (const address of ["https://me:hushed@relay.example/", "http://hushed@relay.example"]) {
    for (
      const inputs of [{ config: {}, env: { SVC_BASE_URL: address } }, {
        config: { baseUrl: address },
        env: {},
      }]
    ) {
      assert.throws(() => resolveBaseUrl(inputs), /^(?![^]*hushed)[^]*a user or a password/);
    }
  }
  assert.equal(resolveBaseUrl({ config: {}, env: { SVC_BASE_URL: "http://h/a@b" } }), "http://h/a@b");
});

Deno.test("a script's key comes first from the environment, the listener's first from the file", () => {
  const inputs = { config: { apiKey: "file" }, env: { SVC_API_KEY: "environment" } };
  assert.equal(scriptApiKey(inputs), "environment");
  assert.equal(listenerApiKey(inputs), "file");
  assert.equal(listenerApiKey({ ...inputs, config: {} }), "environment");
  assert.equal(scriptApiKey({ config: {}, env: {} }), undefined);
});

Deno.test("a command of the host uses the file's key, and the variable's only without one or at another relay [env-api-key]", () => {
  const inputs = (own: string | undefined, named?: string) => ({
    config: { wsUrl: "ws://127.0.0.1:7420/ws", ...(own === undefined ? {} : { apiKey: own }) },
    env: { SVC_API_KEY: "environment", SVC_BASE_URL: named },
  });
  const file = { key: "file", isVariable: false };
  const variable = { key: "environment", isVariable: true };
  assert.deepEqual(hostApiKey(inputs("file")), file);
  assert.deepEqual(hostApiKey(inputs("file", "http://localhost:7420/")), file);
  assert.deepEqual(hostApiKey(inputs(undefined, "http://localhost:7420")), variable);
  assert.deepEqual(hostApiKey(inputs("file", "https://relay.example")), variable);
  assert.deepEqual(hostApiKey(inputs("file", "http://localhost:7421")), variable);
  assert.deepEqual(hostApiKey(inputs("file", "http://localhost:7420/stage")), variable, "behind one proxy");
  assert.deepEqual(hostApiKey({ config: { apiKey: "file" }, env: { SVC_BASE_URL: "http://h" } }), file);
  const env = { SVC_BASE_URL: "http://h", SVC_API_KEY: "environment" };
  assert.deepEqual(hostApiKey({ config: { apiKey: "file" }, env }), variable, "the file names no relay");
  assert.equal(hostApiKey({ config: {}, env: {} }), undefined);
});
