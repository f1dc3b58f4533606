/** Run by another account: listens at the path of a listener's control socket, approves everything, and prints what arrived. */

const [path = ""] = Deno.args;

const counts = { connections: 0, text: "" };
const APPROVAL = { ok: true, answer: { kind: "decided", decision: "once" } };

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

async function answer(connection: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(65_536);
  try {
    for (let got = await connection.read(buffer); got !== null; got = await connection.read(buffer)) {
      counts.text += new TextDecoder().decode(buffer.subarray(0, got));
      await connection.write(new TextEncoder().encode(`${JSON.stringify(APPROVAL)}\n`));
    }
  } catch {
    // The client has disconnected.
  }
}

async function serve(listener: Deno.Listener): Promise<void> {
  for await (const connection of listener) {
    counts.connections += 1;
    void answer(connection);
  }
}

Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { mode: 0o755 });
const listener = Deno.listen({ transport: "unix", path });
Deno.chmodSync(path, 0o777);
void serve(listener);
print("ready\n");
// Runs until its input ends.
for await (const _bytes of Deno.stdin.readable);
print(JSON.stringify(counts));
Deno.exit(0);
