/** Edits of TOML files: a table is added and removed, everything else stays byte for byte. */
import assert from "node:assert/strict";
import { parse } from "smol-toml";
import { putTable, restoreTable, takeTables } from "../../../../src/hooks/setup/edit_toml.ts";

/** Copies the parsed value, since the parser's objects have no prototype. */
const values = (text: string): Record<string, unknown> => JSON.parse(JSON.stringify(parse(text)));

const KEYS = ["mcp_servers", "svc"];
const VALUES = { command: "/bin/svc", args: ["mcp", 'a"b'], tool_timeout_sec: 700 };

const THEIRS = `# my settings
model = "x" # the good one

[mcp_servers.other]   # a server
command = "a"
args = [
  "one", # first
  ["nested"],
]

# about projects
[projects."/work/app"]
trust_level = "trusted"

[[lists]]
name = '''
[mcp_servers.svc]
'''
`;

Deno.test("the table is added at the end, and nothing else changes [set-comments]", () => {
  const result = putTable(THEIRS, KEYS, VALUES);
  assert.ok(result.startsWith(THEIRS));
  assert.equal(
    result.slice(THEIRS.length),
    '\n[mcp_servers.svc]\ncommand = "/bin/svc"\nargs = ["mcp", "a\\"b"]\ntool_timeout_sec = 700\n',
  );
  assert.equal(putTable("", KEYS, { a: 1 }), "[mcp_servers.svc]\na = 1\n");
  assert.equal(putTable("x = 1", KEYS, { a: 1 }), "x = 1\n\n[mcp_servers.svc]\na = 1\n");
});

Deno.test("a second edit changes nothing, and another value changes the table in place [set-idempotent]", () => {
  const once = `${putTable(THEIRS, KEYS, VALUES)}\n# after it\n[after]\na = 1\n`;
  assert.equal(putTable(once, KEYS, VALUES), once);
  const changed = putTable(once, KEYS, { ...VALUES, tool_timeout_sec: 800 });
  assert.equal(changed, once.replace("700", "800"));
});

Deno.test("removing the table leaves every other byte [set-remove]", () => {
  assert.equal(takeTables(putTable(THEIRS, KEYS, VALUES), [KEYS]), THEIRS);
  const between = THEIRS.replace(
    "# about projects",
    '[mcp_servers.svc]\na = 1\n\n[mcp_servers.svc.env]\nB = "1"\n\n$&',
  );
  const back = takeTables(between, [KEYS]);
  assert.deepEqual(parse(back), parse(THEIRS));
  assert.ok(back.includes("# about projects\n[projects"));
  assert.equal(takeTables(THEIRS, [["nothing"]]), THEIRS);
});

Deno.test("tables that the agent added are removed by their keys, with the header that contained only them", () => {
  const key = "/home/u/.codex/hooks.json:stop:0:0";
  const text = `a = 1\n\n[hooks.state]\n\n[hooks.state."${key}"]\ntrusted_hash = "x"\n`;
  assert.equal(takeTables(text, [["hooks", "state", key]]), "a = 1\n");
  const more = `${text}\n[hooks.state."theirs"]\ntrusted_hash = "y"\n`;
  const left = takeTables(more, [["hooks", "state", key]]);
  assert.deepEqual(values(left), { a: 1, hooks: { state: { theirs: { trusted_hash: "y" } } } });
});

Deno.test("the user's own table below svc's stays when svc's is rewritten", () => {
  const text = '[mcp_servers.svc]\ncommand = "old"\n\n[mcp_servers.svc.env]\nA = "1"\n';
  const { mcp_servers } = values(putTable(text, KEYS, VALUES));
  assert.deepEqual(mcp_servers, { svc: { ...VALUES, env: { A: "1" } } });
});

Deno.test("an array of tables after svc's table is not part of it [set-remove]", () => {
  const ours = putTable("", KEYS, VALUES);
  const headers = [
    "[[skills.config]]",
    "  [[ skills . config ]] # [x]",
    "[[\"a]]#\".'b]'.c]]\t# why",
    "[[mcp_servers.other]]",
  ];
  for (const header of headers) {
    const array = `${header}\npath = "x"\n\n${header}\npath = "y"\n`;
    const text = `${ours}\n# about the array\n${array}`;
    assert.equal(takeTables(text, [KEYS]), `# about the array\n${array}`);
    assert.equal(putTable(text, KEYS, { ...VALUES, tool_timeout_sec: 800 }), text.replace("700", "800"));
  }
  const trust = '[hooks]\n\n[hooks.state.key]\nhash = "x"\n';
  const hook = '[[hooks.Stop]]\n\n[[hooks.Stop.hooks]]\ncommand = "a"\n';
  assert.equal(takeTables(trust + hook, [["hooks", "state", "key"]]), `[hooks]\n\n${hook}`);
});

Deno.test("a header whose quoted key has a bracket and a # begins a new table", () => {
  const theirs = '[projects."/work/[x] #1"] # mine\ntrust_level = "trusted"\n';
  assert.equal(takeTables(putTable("", KEYS, VALUES) + theirs, [KEYS]), theirs);
});

Deno.test("an array of tables below svc's stays when svc's is rewritten, and is removed with it", () => {
  const text = '[mcp_servers.svc]\ncommand = "old"\n\n[[mcp_servers.svc.rules]]\nA = "1"\n';
  const put = putTable(text, KEYS, VALUES);
  assert.deepEqual(values(put).mcp_servers, { svc: { ...VALUES, rules: [{ A: "1" }] } });
  assert.equal(putTable(put, KEYS, VALUES), put);
  assert.equal(takeTables(`a = 1\n\n${put}`, [KEYS]), "a = 1\n");
});

Deno.test("an array of tables under svc's own keys is never svc's", () => {
  const text = '[[mcp_servers.svc]]\ncommand = "a"\n';
  assert.throws(() => putTable(text, KEYS, VALUES), /cannot be edited line by line/);
  assert.equal(takeTables(text, [KEYS]), text);
  assert.equal(takeTables("[a]\nb = 1\n\n[[c]]\n", [["a"], ["c", "d"]]), "[[c]]\n");
});

Deno.test("text that looks like a header inside a string or a list begins no table", () => {
  const theirs = `quoted = '"""' # """
[own]
a = """
[[mcp_servers.svc]]
\\"""
[mcp_servers.svc]""""
b = '''
[mcp_servers.svc]''''
c = [
  ["]"], # ]
  [
["mcp_servers"],
["svc"]
  ],
]
`;
  assert.equal(takeTables(putTable(theirs, KEYS, VALUES), [KEYS]), theirs);
  const nested = `[mcp_servers.svc]\nargs = [\n[["mcp"]],\n[\n["a"]\n]\n]\nb = '''\n[[b]]\n'''\n`;
  assert.equal(putTable(nested, KEYS, VALUES), putTable("", KEYS, VALUES));
});

Deno.test("forms that cannot be edited line by line are refused, and so is text that is not TOML", () => {
  const forms = [
    'mcp_servers = { svc = { command = "a" } }',
    '[mcp_servers]\nsvc = { command = "a" }',
    'mcp_servers.svc.command = "a"',
  ];
  for (const text of forms) {
    assert.throws(() => putTable(`${text}\n`, KEYS, VALUES), /cannot be edited line by line/, text);
  }
  const inList = 'x = [\n["a"]\n]\n[mcp_servers.svc]\nb = 1\n';
  assert.deepEqual(parse(putTable(inList, KEYS, VALUES)).x, [["a"]]);
  assert.throws(() => putTable("a = \n", KEYS, VALUES));
});

Deno.test("line endings stay", () => {
  const text = 'a = 1\r\n[b]\r\nc = "d"\r\n';
  const result = putTable(text, KEYS, VALUES);
  assert.equal(result.replaceAll("\r\n", "").includes("\n"), false);
  assert.equal(takeTables(result, [KEYS]), text);
});

Deno.test("a table of the user's that svc's replaced is put back, also if the file has changed since [set-remove]", () => {
  const original =
    `${THEIRS}\n[mcp_servers.svc]\ncommand = "my-own" # mine\n\n[mcp_servers.svc.env]\nA = "b"\n`;
  const since = putTable(original, KEYS, VALUES).replace('model = "x"', 'model = "y"');
  assert.match(since, /command = "\/bin\/svc"/);
  const back = restoreTable(takeTables(since, [KEYS]), KEYS, original);
  assert.deepEqual(values(back), values(original.replace('model = "x"', 'model = "y"')));
  assert.ok(back.includes('command = "my-own" # mine\n'));
  const [first, last] = ["[mcp_servers.svc]\na = 1\n\n# of the next\n", "[other]\nb = 2\n"];
  const moved = restoreTable(takeTables(putTable(first + last, KEYS, VALUES), [KEYS]), KEYS, first + last);
  assert.equal(moved, `# of the next\n${last}\n[mcp_servers.svc]\na = 1\n`);
  const svcs = putTable(THEIRS, KEYS, VALUES);
  assert.equal(restoreTable(THEIRS, KEYS, svcs), THEIRS, "an older svc's is not the user's");
});
