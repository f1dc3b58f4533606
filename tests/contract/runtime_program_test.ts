/** The runtime as a whole program: its terminal, its pipes and how it starts itself again, on Deno and on Node. */

import assert from "node:assert/strict";
import { bundleForNode } from "../../scripts/bundle_for_node.ts";
import { node22 } from "../../scripts/node22.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const probe = new URL("runtime_probe.ts", import.meta.url).pathname;
const denoRuntime = new URL("../../src/runtime/deno.ts", import.meta.url).pathname;

/** Lays a program named `cli` into `root`; returns the argv that runs it. */
type Layer = (root: string) => Promise<string[]>;

const layers: Record<string, Layer> = {
  async deno(root) {
    await Deno.writeTextFile(`${root}/cli.ts`, `import ${JSON.stringify(probe)};\n`);
    await Deno.writeTextFile(`${root}/deno.json`, JSON.stringify({ imports: { "#runtime": denoRuntime } }));
    return [Deno.execPath(), "run", "-A", "--quiet", "--config", `${root}/deno.json`, `${root}/cli.ts`];
  },
  async node(root) {
    await bundleForNode({ entries: { cli: probe }, outdir: root });
    await Deno.writeTextFile(`${root}/package.json`, `{"type":"module"}`);
    return [await node22(), `${root}/cli.js`];
  },
};

interface Program {
  sandbox: Sandbox;
  argv: string[];
  /** Runs with pipes. */
  run(words: string[], stdin?: string): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Runs in a pane of 100 × 30 under a shell that then says whether the terminal is as it was. */
  inPane(...words: string[]): Promise<void>;
  screen(): Promise<string>;
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(" ");
}

async function layProgram(sandbox: Sandbox, layer: Layer): Promise<Program> {
  const argv = await layer(sandbox.root);
  return {
    sandbox,
    argv,
    async run(words, stdin = "") {
      const [program = "", ...args] = [...argv, ...words];
      const stdio = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
      const child = new Deno.Command(program, { args, ...stdio, env: sandbox.env }).spawn();
      await new Blob([stdin]).stream().pipeTo(child.stdin);
      const { code, stdout, stderr } = await child.output();
      const decoder = new TextDecoder();
      return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    },
    async inPane(...words) {
      const script = `trap : INT; ${
        quoted([...argv, ...words])
      }; echo "code $?"; stty -a | grep -o '.icanon'; exec cat`;
      await sandbox.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "-s", "p", script);
    },
    screen: () => sandbox.tmux("capture-pane", "-p", "-t", "=p:"),
  };
}

const cases: Record<string, (program: Program) => Promise<void>> = {
  async "a program with pipes sees no terminal"({ run }) {
    const { stdout } = await run(["facts", "--flag", "a b"]);
    assert.deepEqual(JSON.parse(stdout), {
      args: ["facts", "--flag", "a b"],
      input: false,
      output: false,
      size: { columns: 80, rows: 24 },
    });
  },
  async "stdin is read to its end and written whole"({ run }) {
    const text = "é👩‍👩‍👧\n".repeat(50_000);
    const { stdout, stderr } = await run(["echo"], text);
    assert.equal(stdout, text);
    assert.equal(stderr, "on stderr\n");
  },
  async "a reader that leaves is EPIPE"({ sandbox, argv }) {
    const args = ["-c", `{ ${quoted([...argv, "flood"])} 2>${sandbox.root}/error; } | head -c 5`];
    await new Deno.Command("sh", { args, env: sandbox.env }).output();
    assert.equal(await Deno.readTextFile(`${sandbox.root}/error`), "EPIPE");
  },
  async "the program starts itself again, and shows as cli"({ run, sandbox }) {
    const { stdout } = await run(["again"]);
    assert.deepEqual(JSON.parse(stdout).args, ["facts", "--a b"]);
    const self: string[] = JSON.parse((await run(["self"])).stdout);
    assert.match(self.at(-1) ?? "", new RegExp(`^${sandbox.root}/cli\\.[tj]s$`));
  },
  async "a program in a terminal knows its size"({ inPane, screen }) {
    await inPane("facts");
    const shown = await until("the facts", async () => (await screen()).includes("code 0") && await screen());
    assert.match(shown, /"input":true,"output":true,"size":\{"columns":100,"rows":30\}/);
  },
  async "keys arrive raw until the loop is left, then the terminal is as it was"(
    { inPane, screen, sandbox },
  ) {
    await inPane("keys");
    await until("the program", async () => (await screen()).includes("ready"));
    for (const key of ["C-c", "Up", "q"]) {
      await sandbox.tmux("send-keys", "-t", "=p:", key);
      const shown = { "C-c": "\\u0003", Up: "\\u001b[A", q: '"q"' }[key] ?? "";
      await until(`the key ${key}`, async () => (await screen()).includes(shown));
    }
    await until("the shell's words", async () => /"left"\ncode 0\n icanon/.test(await screen()));
  },
  async "a program that exits while it reads keys leaves the terminal as it was"(
    { inPane, screen, sandbox },
  ) {
    await inPane("exit");
    await until("the program", async () => (await screen()).includes("ready"));
    await sandbox.tmux("send-keys", "-t", "=p:", "x");
    await until("its end", async () => /code 3\n icanon/.test(await screen()));
  },
  async "a child on this terminal gets its keys, and Ctrl-C is the child's to answer"(
    { inPane, screen, sandbox },
  ) {
    await inPane("inherit");
    await until("the child", async () => (await screen()).includes("asking"));
    await sandbox.tmux("send-keys", "-t", "=p:", "C-c");
    await until("its answer", async () => (await screen()).includes("stopped\ncode 9\ncode 0"));
  },
};

for (const [name, layer] of Object.entries(layers)) {
  for (const [title, check] of Object.entries(cases)) {
    Deno.test(`runtime program on ${name}: ${title}`, async () => {
      await using sandbox = await makeSandbox();
      await check(await layProgram(sandbox, layer));
    });
  }
}
