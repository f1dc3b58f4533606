/** A schema as the MCP library takes it: with a plain JSON Schema for the model, and faults in the wire's words. */
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import * as z from "zod/mini";
import { fieldFaults } from "../protocol/faults.ts";

export function toolSchema<S extends z.core.$ZodType>(
  schema: S,
): StandardSchemaWithJSON<z.input<S>, z.output<S>> {
  const json = (): Record<string, unknown> =>
    plain(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })) as Record<string, unknown>;
  return {
    "~standard": {
      version: 1,
      vendor: "svc",
      validate: (value) => {
        const parsed = z.safeParse(schema, value);
        return parsed.success ? { value: parsed.data } : { issues: issues(parsed.error) };
      },
      jsonSchema: { input: json, output: json },
    },
  };
}

function issues(error: z.core.$ZodError): { message: string }[] {
  return fieldFaults(error).map(({ pointer, detail }) => ({ message: `${pointer || "/"}: ${detail}` }));
}

/** Not every vendor of models takes patterns and dialects in the schema of a tool. */
function plain(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(plain);
  if (typeof json !== "object" || json === null) return json;
  const kept = Object.entries(json).filter(([key]) => key !== "pattern" && key !== "$schema");
  return Object.fromEntries(kept.map(([key, value]) => [key, plain(value)]));
}
