/** The drafts of forms and of ticked options. */
import assert from "node:assert/strict";
import {
  formDraft,
  formValues,
  ownIn,
  tickedAnswer,
  tickedDraft,
  tickedIn,
  withOtherSign,
} from "../../../src/phone/views/ask_form.tsx";
import type { AskField } from "../../../src/protocol/ask.ts";

const FIELDS: AskField[] = [
  { name: "host", type: "text" },
  { name: "port", type: "number" },
  { name: "zone", type: "choice", options: ["Frankfurt", "Dublin"] },
  { name: "tls", type: "boolean" },
  { name: "token", type: "text", secret: true },
];

Deno.test("a form's draft has the entered values, but no secret [ux-form-draft]", () => {
  const entered = { host: "box", port: "80", zone: "Dublin", tls: true, token: "hunter2" };
  const draft = formDraft(FIELDS, entered);
  assert.doesNotMatch(draft, /hunter2/);
  const { token: _secret, ...others } = entered;
  assert.deepEqual(formValues(FIELDS, draft), others);
  assert.equal(formDraft(FIELDS, { host: "", tls: false, token: "hunter2" }), "");
});

Deno.test("a draft of another form, or of none, leaves the form empty", () => {
  for (const draft of ["", "null", "[1]", "words", '{"zone":"Mars","tls":"yes","host":7}']) {
    assert.deepEqual(formValues(FIELDS, draft), {}, draft);
  }
});

Deno.test("ticks and own words share a draft; removed options are left out [ux-form-draft]", () => {
  const draft = tickedDraft({ chosen: ["unit", "gone"], text: "and lint" });
  assert.deepEqual(tickedIn(["e2e", "unit"], draft), { chosen: ["unit"], text: "and lint" });
  assert.equal(tickedDraft({ chosen: [], text: "" }), "");
  assert.deepEqual(tickedIn(["unit"], "only words"), { chosen: [], text: "only words" });
});

Deno.test("ticks and own words are sent together, whichever button sends them [mcp-ask]", () => {
  const [chosen, text] = [["e2e", "unit"], "but not before noon"];
  assert.deepEqual(tickedAnswer({ chosen, text: " " }), { kind: "choices", choices: chosen });
  assert.deepEqual(tickedAnswer({ chosen: [], text }), { kind: "text", text });
  assert.deepEqual(tickedAnswer({ chosen, text }), { kind: "text", text: `e2e, unit\n${text}` });
});

Deno.test("a field named like something that every object inherits is empty until the user writes into it [ux-form-draft]", () => {
  for (const name of ["constructor", "toString", "valueOf"]) {
    const fields = [{ name, type: "text" } as const];
    assert.equal(formDraft(fields, {}), "");
    assert.equal(ownIn(formValues(fields, ""), name), undefined);
    assert.equal(ownIn(formValues(fields, formDraft(fields, { [name]: "x" })), name), "x");
  }
});

Deno.test("a number gets its minus sign by a button, which a phone's keypad may lack [ux-inbox]", () => {
  const pairs = [["", "-"], ["5", "-5"], ["-1.5", "1.5"], ["+3", "-3"], ["−2", "2"], [" 7", "-7"], ["-", ""]];
  for (const [before = "", after] of pairs) assert.equal(withOtherSign(before), after, before);
});
