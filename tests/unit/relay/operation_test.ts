/** The relay's OpenAPI document. */
import assert from "node:assert/strict";
import { Validator } from "@seriousme/openapi-schema-validator";
import { ROUTES } from "../../../src/relay/routes.ts";
import { Fixture } from "./fixture.ts";

interface Operation {
  security: unknown[];
  requestBody?: {
    content: Record<string, { schema: { properties?: Record<string, unknown>; required?: string[] } }>;
  };
  responses: Record<string, unknown>;
}

Deno.test("/openapi.json passes an independent OpenAPI 3.1 validator and has every route [http-openapi, proto-one-schema]", async () => {
  await using relay = await Fixture.make();
  const answer = await relay.request("GET", "/openapi.json");
  const document = await answer.json();
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(document.openapi, "3.1.0");
  const described = Object.entries(document.paths as Record<string, Record<string, unknown>>)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
  assert.deepEqual(described.sort(), ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
});

Deno.test("every operation has a tag, a description and the refusals of its callers, as OpenAPI linters require", async () => {
  await using relay = await Fixture.make();
  const document = await (await relay.request("GET", "/openapi.json")).json();
  assert.ok(document.info.contact.name !== "" && document.info.license.identifier === "MIT");
  const paths: Record<string, Record<string, Operation & { tags: string[]; description: string }>> =
    document.paths;
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { tags, description, responses }] of Object.entries(methods)) {
      const refusals = Object.keys(responses).filter((status) => status.startsWith("4"));
      assert.ok(tags[0] !== "" && description !== "" && refusals.includes("429"), `${method} ${path}`);
    }
  }
});

Deno.test("a push's fields, errors and key are described", async () => {
  await using relay = await Fixture.make();
  const document = await (await relay.request("GET", "/openapi.json")).json();
  const send: Operation = document.paths["/pushes/send"].post;
  const schema = send.requestBody?.content["application/json"]?.schema;
  assert.deepEqual(schema?.required, ["type"]);
  for (const field of ["id", "type", "targetDeviceId", "agentSessionName", "body", "sealed", "ttlSeconds"]) {
    assert.ok(schema?.properties?.[field] !== undefined, field);
  }
  const statuses = ["202", "400", "401", "403", "404", "409", "413", "415", "429", "503"];
  assert.deepEqual(Object.keys(send.responses).sort(), statuses);
  assert.deepEqual(send.security, [{ key: [] }]);
  assert.deepEqual(document.paths["/healthz"].get.security, []);
});

Deno.test("optional parts and a failing relay's answers are described correctly [http-openapi]", async () => {
  await using relay = await Fixture.make();
  const { paths } = await (await relay.request("GET", "/openapi.json")).json();
  const required = (path: string): boolean => paths[path].post.requestBody.required;
  assert.deepEqual([required("/pushes/send"), required("/pairings")], [true, false]);
  assert.deepEqual(Object.keys(paths["/readyz"].get.responses["503"].content), ["application/json"]);
});

Deno.test("/openapi.json names the address that a tunnel gave the relay, never the one it was asked by [http-openapi]", async () => {
  await using relay = await Fixture.make();
  const servers = async (): Promise<unknown> => {
    const headers = { host: "attacker.example" };
    return (await (await relay.request("GET", "/openapi.json", { headers })).json()).servers;
  };
  assert.deepEqual(await servers(), [{ url: "/" }]);
  relay.services.publicUrl = "https://tunnel.example";
  assert.deepEqual(await servers(), [{ url: "https://tunnel.example" }]);
});

Deno.test("/metrics has the number of messages that a node has still to read in NATS, but not on SQLite [nodes-watch]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["admin"]);
  const text = async () => await (await relay.request("GET", "/metrics", { key })).text();
  assert.doesNotMatch(await text(), /svc_nats_backlog/);
  relay.services.store.backlog = () => 7;
  assert.match(await text(), /^svc_nats_backlog 7$/m);
});
