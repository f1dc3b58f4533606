/**
 * Run by another account: creates two folders for tmux before their owner does, and prints what arrived at its own
 * socket. One is a link that it keeps swapping between the owner's real folder and its own, the other a folder with
 * such a link in it.
 */

const [link = "", folder = "", real = "", own = ""] = Deno.args;

const counts = { swaps: 0, connections: 0, text: "" };

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

async function serve(path: string): Promise<void> {
  const listener = Deno.listen({ transport: "unix", path });
  Deno.chmodSync(path, 0o777);
  for await (const connection of listener) {
    counts.connections += 1;
    // A client without an answer would wait forever.
    setTimeout(() => connection.close(), 200);
    const buffer = new Uint8Array(65_536);
    void (async () => {
      try {
        for (let got = await connection.read(buffer); got !== null; got = await connection.read(buffer)) {
          counts.text += new TextDecoder("latin1").decode(buffer.subarray(0, got));
        }
      } catch {
        // The client has disconnected.
      }
    })();
  }
}

/** The link must never be absent, or its owner could create the folder. */
function swap(step: number): void {
  const target = step % 2 ? real : own;
  for (const [place, to] of [[link, target], [`${folder}/default`, `${target}/default`]] as const) {
    Deno.symlinkSync(to, `${place}.new`);
    Deno.renameSync(`${place}.new`, place);
  }
  counts.swaps += 2;
}

for (const made of [own, folder]) Deno.mkdirSync(made, { mode: 0o755, recursive: true });
void serve(`${own}/default`);
let isOver = false;
void Deno.stdin.read(new Uint8Array(1)).then(() => isOver = true);
for (let step = 0; !isOver; step++) {
  swap(step);
  if (step === 0) print("ready");
  // Lets the socket's events run.
  await Deno.stat(own);
}
print(JSON.stringify(counts));
Deno.exit(0);
