/** Edits of JSON files with comments: svc's entries are added and removed, everything else stays byte for byte. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { parse } from "jsonc-parser";
import type { JsonEdit } from "../../../../src/agents/setup.ts";
import { putJson, takeJson } from "../../../../src/hooks/setup/edit_json.ts";

const group = (launcher: string): unknown => ({
  hooks: [{ type: "command", command: `'${launcher}/bin/svc' remote-hook gemini` }],
});
const edit: JsonEdit = {
  form: "json",
  paths: ["/settings.json"],
  set: [{ at: ["mcpServers", "svc"], value: { command: "/new/bin/svc", args: ["mcp"] } }],
  append: [
    { at: ["hooks", "BeforeAgent"], values: [group("/new")] },
    { at: ["permissions", "allow"], values: ["svc_ask"] },
  ],
};

const THEIRS = `// settings of mine
{
\t"theme": "dark", // the only one
\t/* servers */
\t"mcpServers": {
\t\t"other": { "command": "a" } // keep
\t},
\t"hooks": {
\t\t"BeforeAgent": [
\t\t\t{ "hooks": [{ "type": "command", "command": "mine" }] } // first
\t\t]
\t},
\t"permissions": { "allow": ["Read"], "deny": [] }
}
`;

const WITH_SVC = `// settings of mine
{
\t"theme": "dark", // the only one
\t/* servers */
\t"mcpServers": {
\t\t"other": { "command": "a" }, // keep
\t\t"svc": {
\t\t\t"command": "/new/bin/svc",
\t\t\t"args": [
\t\t\t\t"mcp"
\t\t\t]
\t\t}
\t},
\t"hooks": {
\t\t"BeforeAgent": [
\t\t\t{ "hooks": [{ "type": "command", "command": "mine" }] }, // first
\t\t\t{
\t\t\t\t"hooks": [
\t\t\t\t\t{
\t\t\t\t\t\t"type": "command",
\t\t\t\t\t\t"command": "'/new/bin/svc' remote-hook gemini"
\t\t\t\t\t}
\t\t\t\t]
\t\t\t}
\t\t]
\t},
\t"permissions": { "allow": ["Read", "svc_ask"], "deny": [] }
}
`;

Deno.test("svc's entries are added, and no other byte changes except a comma [set-comments]", () => {
  assert.equal(putJson(THEIRS, edit), WITH_SVC);
});

Deno.test("a second edit changes nothing [set-idempotent]", () => {
  for (const text of [THEIRS, "{}\n", '{"hooks":{}}', "// empty\n{\n}\n"]) {
    const once = putJson(text, edit);
    assert.equal(putJson(once, edit), once);
  }
});

Deno.test("removing svc's entries restores the user's file byte for byte [set-remove]", () => {
  assert.equal(takeJson(WITH_SVC, edit), THEIRS);
  assert.equal(takeJson(THEIRS, edit), THEIRS);
  for (
    const text of [
      "{}\n",
      "{}",
      '{"a":1}',
      '{\n  "a": 1\n}\n',
      '{"a":1, "b":[1,2]}\n',
      "[]\n".replace("[]", '{ "a": [] }'),
    ]
  ) {
    assert.equal(takeJson(putJson(text, edit), edit).replaceAll(/\s/g, ""), text.replaceAll(/\s/g, ""));
  }
});

Deno.test("a value of the user's that svc's replaced is put back, also if the file has changed since [set-remove]", () => {
  const at = ["mcpServers", "svc"];
  const own: JsonEdit = {
    ...edit,
    append: [],
    set: [{ at, value: { command: "/new/bin/svc", args: ["mcp"] } }],
  };
  const original = '{"theme":"d","mcpServers":{"svc":{"command":"my-own"}}}';
  const since = putJson(original, own).replace('"d"', '"e"');
  assert.deepEqual(parse(since).mcpServers.svc.command, "/new/bin/svc");
  assert.deepEqual(parse(takeJson(since, own, original)), parse(original.replace('"d"', '"e"')));
  assert.equal(takeJson(original, own, original), original, "a second removal changes nothing");
  const newer = since.replace("/new/bin/svc", "/their/own");
  assert.deepEqual(
    parse(takeJson(newer, own, original)),
    parse(newer),
    "nor is one that they put there since",
  );
  const svcs = putJson("{}", own);
  assert.deepEqual(
    parse(takeJson(svcs, own, svcs)).mcpServers?.svc,
    undefined,
    "an older svc's is not the user's",
  );
});

Deno.test("svc's entries are removed even from between entries that the user added later", () => {
  const since = WITH_SVC.replace(
    '\t\t}\n\t},\n\t"hooks"',
    '\t\t},\n\t\t"newer": {} // mine\n\t},\n\t"hooks"',
  );
  const back = takeJson(since, edit);
  assert.equal(back, THEIRS.replace("} // keep\n", '}, // keep\n\t\t"newer": {} // mine\n'));
});

Deno.test("entries of an svc at another path are replaced; a group with the user's own hook is not touched", () => {
  const mixed = { hooks: [{ command: "'/old/bin/svc' hook Stop cc" }, { command: "mine" }] };
  const text = JSON.stringify({ hooks: { BeforeAgent: [group("/old"), mixed] } });
  assert.deepEqual(parse(putJson(text, edit)).hooks.BeforeAgent, [mixed, group("/new")]);
  assert.deepEqual(parse(takeJson(text, edit)).hooks.BeforeAgent, [mixed]);
});

Deno.test("line endings and a trailing comma stay", () => {
  const windows = THEIRS.replaceAll("\n", "\r\n");
  assert.equal(putJson(windows, edit), WITH_SVC.replaceAll("\n", "\r\n"));
  assert.equal(takeJson(putJson(windows, edit), edit), windows);
  const trailing = '{\n  "hooks": {\n    "Other": [1,],\n  },\n}\n';
  const result = putJson(trailing, edit);
  assert.deepEqual(parse(result).hooks.Other, [1]);
  assert.equal(takeJson(result, edit, trailing), trailing);
  assert.equal(takeJson(putJson(trailing, edit), edit), trailing);
  const inline = '{"permissions": {"allow": ["Read",]},}\n';
  assert.equal(takeJson(putJson(inline, edit), edit).replaceAll(/\s/g, ""), inline.replaceAll(/\s/g, ""));
});

Deno.test("a comment before a trailing comma stays when svc's entry after it is removed [set-comments, set-remove]", () => {
  const text = '{"permissions": {"allow": ["Read" /* mine */ ,]}}\n';
  assert.equal(takeJson(putJson(text, edit), edit).replaceAll(/\s/g, ""), text.replaceAll(/\s/g, ""));
});

Deno.test("the user's lists and objects stay when they become empty again, and so does any with a comment", () => {
  const text = '{\n  "permissions": {\n    "allow": [ // none yet\n    ]\n  },\n  "hooks": {}\n}\n';
  const back = takeJson(putJson(text, edit), edit, text);
  assert.deepEqual(parse(back), parse(text));
  assert.match(back, /\/\/ none yet/);
  assert.match(takeJson(putJson(text, edit), edit), /"allow": \[ \/\/ none yet/);
  assert.doesNotMatch(takeJson(putJson(text, edit), edit), /hooks/);
});

Deno.test("a duplicate name on the path to svc's entries is refused, because agents read only one of the two", () => {
  assert.throws(
    () => putJson('{"mcpServers":{"a":{}},"mcpServers":{"b":{}}}', edit),
    /"mcpServers" is there twice/,
  );
  const old = '{"mcpServers":{"a":{}},"mcpServers":{"svc":{"command":"/old/bin/svc","args":["mcp"]}}}';
  assert.throws(() => putJson(old, edit), /"mcpServers" is there twice/);
  assert.throws(() => takeJson(old, edit), /"mcpServers" is there twice/);
  const other = '{"a":1,"a":2,"mcpServers":{},"mcpServers":{}}';
  assert.equal(takeJson(other, edit), other);
});

Deno.test("any JSON accepts svc's entries, keeps its own values, and can be restored", () => {
  const keys = fc.constantFrom("a", "hooks", "mcpServers", "x y", "permissions");
  const plain = { noNullPrototype: true };
  const objects = fc.dictionary(keys, fc.dictionary(keys, fc.jsonValue({ maxDepth: 2 }), plain), plain);
  fc.assert(fc.property(objects, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
    const text = JSON.stringify(value, null, indent);
    const result = putJson(text, edit);
    assert.equal(putJson(result, edit), result);
    assert.deepEqual(parse(result).mcpServers.svc, { command: "/new/bin/svc", args: ["mcp"] });
    // JSON.parse of V8 15, and of Node 24, parses a key that is one escaped character, such as "\n", as a backslash.
    const own = parse(text);
    for (const name of ["hooks", "mcpServers", "permissions"]) if (isEmptyObject(own[name])) delete own[name];
    assert.deepEqual(parse(takeJson(result, edit)), own);
  }));
});

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

Deno.test("text that is not JSON, or not of the expected form, is refused with the reason", () => {
  assert.throws(() => putJson('{\n  "a": }', edit), /line 2, column 8 is not JSON/);
  assert.throws(() => putJson('{"hooks": {"BeforeAgent": {}}}', edit), /"hooks.BeforeAgent" is not a list/);
  assert.throws(() => putJson('{"mcpServers": []}', edit), /"mcpServers" is not an object/);
  assert.throws(() => putJson("[]", edit), /"" is not an object/);
});
