/** Fills the tables of docs/protocol.md from src/protocol: `deno run -A scripts/protocol_tables.ts`. */
import type * as z from "zod/mini";
import { WIRE_ERRORS } from "../src/protocol/errors.ts";
import { EVENTS } from "../src/protocol/frames.ts";
import * as limits from "../src/protocol/limits.ts";
import { PUSH_TYPES, PushRequest } from "../src/protocol/push.ts";
import { REASONS } from "../src/protocol/reasons.ts";
import { PUSH_STATES } from "../src/protocol/receipt.ts";
import { SessionEntry } from "../src/protocol/session.ts";
import { ROUTES } from "../src/relay/routes.ts";

const ROOT = new URL("../", import.meta.url);
export const PAGE: URL = new URL("docs/protocol.md", ROOT);

/** Returns the page with the text between each pair of `<!-- name -->` and `<!-- /name -->` regenerated. */
export async function renderPage(page: string): Promise<string> {
  const tables = await makeTables();
  return page.replace(/<!-- (\w+) -->\n[\s\S]*?<!-- \/\1 -->/g, (whole, name: string) => {
    const table = tables[name];
    return table === undefined ? whole : `<!-- ${name} -->\n\n${table}\n\n<!-- /${name} -->`;
  });
}

async function makeTables(): Promise<Record<string, string>> {
  const [frames, push, limitLines] = await Promise.all(["frames", "push", "limits"].map(readComments));
  return {
    routes: routeTable(),
    events: eventTable(frames ?? new Map()),
    errors: table(
      ["code", "status", "title"],
      Object.entries(WIRE_ERRORS).map(([code, error]) => [`\`${code}\``, String(error.status), error.title]),
    ),
    limits: limitTable(limitLines ?? new Map()),
    reasons: table(
      ["reason", "what a person reads"],
      Object.entries(REASONS).map(([reason, sentence]) => [`\`${reason}\``, sentence]),
    ),
    types: table(
      ["type", "from → to", "meaning"],
      Object.keys(PUSH_TYPES).map((type) => directed(type, push?.get(type))),
    ),
    states: PUSH_STATES.map((state) => `\`${state}\``).join(", "),
    push: fields(PushRequest),
    entry: fields(SessionEntry),
  };
}

/** Returns the comment above each key or name in a file of src/protocol. */
async function readComments(file: string): Promise<Map<string, string>> {
  const source = await Deno.readTextFile(new URL(`src/protocol/${file}.ts`, ROOT));
  const commented = /\/\*\* (.+?) \*\/\n\s*(?:export const )?"?([\w.]+)"?/g;
  return new Map(Array.from(source.matchAll(commented), ([, comment = "", key = ""]) => [key, comment]));
}

function routeTable(): string {
  const rows = ROUTES.map((route) => {
    const query = Object.keys(route.query ?? {}).map((name) => `${name}=`).join("&");
    const scopes = "scopes" in route ? route.scopes.map((scope) => `\`${scope}\``).join(" or ") : "none";
    return [`\`${route.method} ${route.path}${query && `?${query}`}\``, scopes, route.summary];
  });
  return table(["method and path", "scope", "what it does"], rows);
}

function eventTable(comments: Map<string, string>): string {
  const rows = Object.entries(EVENTS).map(([event, schema]) => {
    const [name = "", direction = "", meaning = ""] = directed(event, comments.get(event));
    return [name, direction, fields(schema), meaning];
  });
  return table(["event", "direction", "data", "meaning"], rows);
}

function limitTable(comments: Map<string, string>): string {
  const rows = Object.entries(limits).flatMap(([name, value]) =>
    typeof value === "number" ? [[`\`${name}\``, value.toLocaleString("en"), comments.get(name) ?? ""]] : []
  );
  return table(["limit", "value", ""], rows);
}

/** Splits a `direction: meaning` comment into two cells after the name. */
function directed(name: string, comment = ""): string[] {
  const at = comment.indexOf(": ");
  if (at < 0) {
    throw new Error(`Cannot describe "${name}": its comment is not of the form "from → to: meaning."`);
  }
  const meaning = comment.slice(at + 2).replace(/^\w/, (letter) => letter.toUpperCase());
  return [`\`${name}\``, comment.slice(0, at), meaning];
}

/** Lists the names of an object's fields, optional ones with a question mark. */
function fields(schema: z.ZodMiniType): string {
  if (!("shape" in schema)) return "";
  const shape = schema.shape as Record<string, z.ZodMiniType>;
  return Object.entries(shape).map(([name, field]) => `\`${name}${isOptional(field) ? "?" : ""}\``).join(" ");
}

function isOptional(field: z.ZodMiniType): boolean {
  return field._zod.optin === "optional";
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

if (import.meta.main) await Deno.writeTextFile(PAGE, await renderPage(await Deno.readTextFile(PAGE)));
