/** Every schema of the wire, the control socket and the journal: accepts or refuses any value, without throwing or changing what it accepted. */
import assert from "node:assert/strict";
import type * as z from "zod/mini";
import * as controlSocket from "../../src/home/control_socket.ts";
import * as journal from "../../src/home/journal.ts";
import { EVENTS } from "../../src/protocol/frames.ts";
import { readSources } from "../helpers/sources.ts";
import { fuzz } from "./cases.ts";
import { nearSchema } from "./near_schema.ts";

type Schema = z.ZodMiniType;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && "safeParse" in value && "_zod" in value;
}

async function schemas(): Promise<[string, Schema][]> {
  const files = (await readSources("src/protocol")).map(({ path }) => path);
  const modules: Record<string, unknown>[] = await Promise.all(
    files.map((path) => import(new URL(`../../${path}`, import.meta.url).href)),
  );
  const exported = [...modules, controlSocket, journal].flatMap((module) => Object.entries(module));
  const events = Object.entries(EVENTS).map(([name, schema]): [string, Schema] => [`event ${name}`, schema]);
  const found = exported.filter((entry): entry is [string, Schema] => isSchema(entry[1]));
  return [...new Map([...found, ...events].map(([name, schema]) => [schema, name]))]
    .map(([schema, name]) => [name, schema]);
}

/** Asserts that an accepted value can be sent as JSON and that the other side accepts the same. */
function holds(schema: Schema, value: unknown): void {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return assert.ok(parsed.error.issues.length > 0);
  const text = JSON.stringify(parsed.data);
  if (text === undefined) return;
  const sent: unknown = JSON.parse(text);
  const again = schema.safeParse(sent);
  assert.ok(again.success, `not accepted when it is sent: ${text.slice(0, 500)}`);
  assert.equal(JSON.stringify(again.data), text);
}

const all = await schemas();

Deno.test("the schemas are found", () => {
  assert.ok(all.length > Object.keys(EVENTS).length + 30, `${all.length}`);
});

for (const [name, schema] of all) {
  Deno.test(`any value nearly like ${name} is accepted or refused [fuzz-100k, fuzz-wire]`, () => {
    fuzz(`schema ${name}`, nearSchema(schema), { holds: (value) => holds(schema, value) });
  });
}
