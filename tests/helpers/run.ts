/** Runs a program to its end. */

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  /** The whole environment; default: this process's own. */
  env?: Record<string, string>;
  stdin?: string;
}

export async function run(argv: readonly string[], { cwd, env, stdin }: RunOptions = {}): Promise<Ran> {
  const [program = "", ...args] = argv;
  const child = new Deno.Command(program, {
    args,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env, clearEnv: true }),
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}
