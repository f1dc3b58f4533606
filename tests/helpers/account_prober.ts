/** Run by another account: tries to access each given path and process in every way, and prints the results. */

export interface Probed {
  what: string;
  kind: string;
  read: string;
  write: string;
  swap: string;
  connect: string;
}

const REFUSED = "refused";

/** Returns the outcome: refused, not applicable, or what it got. */
function attempt(action: () => string | void): string {
  try {
    return action() ?? "GOT IT";
  } catch (error) {
    const code = error instanceof Error ? error.name : String(error);
    return ["PermissionDenied", "NotCapable", "NotFound"].includes(code) ? REFUSED : `${REFUSED} (${code})`;
  }
}

async function connected(path: string): Promise<string> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return "GOT IT";
  } catch {
    return REFUSED;
  }
}

async function probePath(path: string, kind: string): Promise<Probed> {
  const isFolder = kind === "folder";
  const read = (): string | void => void (isFolder ? [...Deno.readDirSync(path)] : Deno.readFileSync(path));
  const write = (): void => {
    if (isFolder) Deno.writeTextFileSync(`${path}/planted`, "x");
    else Deno.openSync(path, { append: true }).close();
  };
  const swap = (): void => Deno.renameSync(path, `${path}.taken`);
  return {
    what: path,
    kind,
    read: kind === "socket" ? "-" : attempt(read),
    write: kind === "socket" ? "-" : attempt(write),
    swap: attempt(swap),
    connect: kind === "socket" ? await connected(path) : "-",
  };
}

function probeProcess(pid: number): Probed {
  const proc = `/proc/${pid}`;
  const secrets = ["environ", "mem", "maps", "fd"].map((part) =>
    attempt(() => {
      if (part === "fd") return void [...Deno.readDirSync(`${proc}/fd`)];
      const file = Deno.openSync(`${proc}/${part}`);
      file.readSync(new Uint8Array(1));
      return file.close();
    })
  );
  return {
    what: `process ${pid}`,
    kind: "process",
    read: secrets.every((one) => one.startsWith(REFUSED)) ? REFUSED : secrets.join(),
    write: attempt(() => Deno.openSync(`${proc}/mem`, { write: true }).close()),
    swap: attempt(() => Deno.kill(pid, "SIGURG")),
    connect: "-",
  };
}

if (import.meta.main) {
  const { paths, pids }: { paths: [string, string][]; pids: number[] } = JSON.parse(Deno.args[0] ?? "{}");
  const rows = [];
  for (const [path, kind] of paths) rows.push(await probePath(path, kind));
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify([...rows, ...pids.map(probeProcess)])));
}
