/** The runtime in a whole program: its terminal, its pipes, and how it restarts itself, on Deno and on Node. */

import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { buildForNode } from "../helpers/node_build.ts";
import { type Ran, run } from "../helpers/run.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const probe = new URL("runtime_probe.ts", import.meta.url);
const denoRuntime = new URL("../../src/runtime/deno.ts", import.meta.url);

/** Writes a program named `cli` into `root`; returns the argv that runs it. */
type Layer = (root: string) => Promise<string[]>;

const layers: Record<string, Layer> = {
  async deno(root) {
    await Deno.writeTextFile(`${root}/cli.ts`, `import ${JSON.stringify(probe.href)};\n`);
    await Deno.writeTextFile(
      `${root}/deno.json`,
      JSON.stringify({ imports: { "#runtime": denoRuntime.href } }),
    );
    return [Deno.execPath(), "run", "-A", "--quiet", "--config", `${root}/deno.json`, `${root}/cli.ts`];
  },
  node: (root) => buildForNode(fileURLToPath(probe), { folder: root }),
};

interface Program {
  sandbox: Sandbox;
  argv: string[];
  /** Runs with pipes. */
  run(args: string[], stdin?: string): Promise<Ran>;
  /** Runs in a pane of 100 × 30 under a shell that prints afterwards whether the terminal was restored. */
  inPane(...args: string[]): Promise<void>;
  screen(): Promise<string>;
}

function quoted(args: readonly string[]): string {
  return args.map((arg) => `'${arg}'`).join(" ");
}

async function layProgram(sandbox: Sandbox, layer: Layer): Promise<Program> {
  const argv = await layer(sandbox.root);
  return {
    sandbox,
    argv,
    run: (args, stdin = "") => run([...argv, ...args], { env: sandbox.env, stdin }),
    async inPane(...args) {
      const program = quoted([...argv, ...args]);
      const script = `trap : INT; ${program}; echo "code $?"; stty -a | grep -o '.icanon'; exec cat`;
      await sandbox.newSession("p", ["sh", "-c", script], { cols: 100, rows: 30 });
    },
    screen: () => sandbox.screen("p"),
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
  async "a program that has no descriptor left starts no other one, and goes on"({ sandbox, argv }) {
    const script = `ulimit -n 64; exec ${quoted([...argv, "descriptors", `${sandbox.root}/file`])}`;
    const { code, stdout, stderr } = await run(["sh", "-c", script], { env: sandbox.env });
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), { run: "refused", pipe: "refused" });
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
    await until("the shell's output", async () => /"left"\ncode 0\n icanon/.test(await screen()));
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
