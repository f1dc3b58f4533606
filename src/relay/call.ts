/** One HTTP call as a handler sees it, and the reading of its body. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import type { KeyRecord } from "../store/store.ts";
import { badFields, Refusal } from "./problems.ts";

export interface Call {
  request: Request;
  /** IP address of the caller's end of the connection. */
  address: string;
  /** A part of the path, decoded. */
  param(name: string): string;
  query(name: string): string | undefined;
}

/** A call whose key was looked up and has the route's scope. */
export interface KeyedCall extends Call {
  key: KeyRecord;
}

/** The body, parsed once with its schema. */
export async function readBody<S extends z.core.$ZodType>(
  { request }: Call,
  { schema, code }: { schema: S; code: "invalid_push" | "invalid_request" },
): Promise<z.output<S>> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new Refusal(
      "unsupported_media_type",
      `Cannot read a body of type "${type.slice(0, 100)}": send application/json`,
    );
  }
  const text = utf8Text(await request.arrayBuffer());
  const json = text === undefined ? undefined : parseJson(text);
  if (json === undefined) {
    throw new Refusal(code, "Cannot read the body: it is no JSON in UTF-8, or nested too deep");
  }
  const parsed = z.safeParse(schema, json.value);
  if (!parsed.success) throw badFields(code, parsed.error);
  return parsed.data;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** Undefined for bytes that are no UTF-8: a character put in their place would be typed. */
function utf8Text(bytes: ArrayBuffer): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

export function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
  });
}

export function noContent(): Response {
  return new Response(null, { status: 204 });
}
