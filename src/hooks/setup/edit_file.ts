/** What a file becomes with svc's part in it, and without it: pure, by the form of the edit. */
import type { FileEdit } from "../../agents/setup.ts";
import { putJson, takeJson } from "./edit_json.ts";
import { putTable, takeTables } from "./edit_toml.ts";

/** What an edit needs beside the file's text. */
export interface EditInputs {
  /** Text of the own file's source, where the edit has one. */
  source: string | undefined;
  launcher: string;
  /** Tables that the agent itself added. */
  tables: readonly (readonly string[])[];
}

/** Every file that is svc's alone says so. */
const OWN_MARK = "Written by svc setup";

/** Undefined: no file, and none is to be made. Throws Error with what in the file stands in the way. */
export function withSvc(edit: FileEdit, text: string | undefined, inputs: EditInputs): string | undefined {
  switch (edit.form) {
    case "json":
      if (isBlank(text) && edit.initial === null) return text;
      return putJson(isBlank(text) ? `${JSON.stringify(edit.initial ?? {}, null, 2)}\n` : text, edit);
    case "toml":
      return putTable(text ?? "", edit.table, edit.entries);
    case "own":
      if (text !== undefined && !text.includes(OWN_MARK)) throw new Error("it is there and is not svc's");
      return (inputs.source ?? "").replaceAll('"{{launcher}}"', JSON.stringify(inputs.launcher));
  }
}

/** Undefined: the file goes. Throws Error with what in the file stands in the way. */
export function withoutSvc(edit: FileEdit, text: string, { tables }: EditInputs): string | undefined {
  switch (edit.form) {
    case "json":
      return isBlank(text) ? text : takeJson(text, edit);
    case "toml":
      return takeTables(text, [edit.table, ...tables]);
    case "own":
      return text.includes(OWN_MARK) ? undefined : text;
  }
}

function isBlank(text: string | undefined): text is undefined | "" {
  return text === undefined || text.trim() === "";
}
