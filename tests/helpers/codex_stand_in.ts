/** Stands in for `codex app-server`: lists the hooks of hooks.json, and records trusted ones in config.toml. */

const [directory = "", mode = "willing"] = Deno.args;
const hooksFile = `${directory}/hooks.json`;
const configFile = `${directory}/config.toml`;

interface Hook {
  key: string;
  eventName: string;
  command: string;
  currentHash: string;
  trustStatus: string;
}

function hooks(): Hook[] {
  const events: Record<string, { hooks: { command: string }[] }[]> =
    JSON.parse(Deno.readTextFileSync(hooksFile)).hooks;
  const config = Deno.readTextFileSync(configFile);
  return Object.entries(events).flatMap(([event, groups]) =>
    groups.map(({ hooks: [hook] }, at) => {
      const key = `${hooksFile}:${event}:${at}:0`;
      const currentHash = `sha256:${hook?.command.length}`;
      const isTrusted = config.includes(
        `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${currentHash}"`,
      );
      const trustStatus = isTrusted ? "trusted" : "untrusted";
      return { key, eventName: event, command: hook?.command ?? "", currentHash, trustStatus };
    })
  );
}

function trust(params: { edits: { value: Record<string, { trusted_hash: string }> }[] }): void {
  for (const [key, { trusted_hash }] of params.edits.flatMap(({ value }) => Object.entries(value))) {
    const table = `\n[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${trusted_hash}"\n`;
    Deno.writeTextFileSync(configFile, table, { append: true });
  }
}

/** Edits config.toml as the user might while svc waits for Codex. */
function edit(): void {
  Deno.writeTextFileSync(configFile, "\n[newer]\na = 1\n", { append: true });
}

function answer(method: string, params: Parameters<typeof trust>[0]): unknown {
  if (method === "hooks/list") return { data: [{ cwd: "/", errors: [], warnings: [], hooks: hooks() }] };
  if (method === "initialize" && mode === "shared") edit();
  if (method === "config/batchWrite" && mode !== "unwilling") trust(params);
  return {};
}

let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const notice = JSON.stringify({ method: "some/notification", params: {} });
    const reply = mode === "broken"
      ? { id, error: { code: -32601, message: "unknown method" } }
      : { id, result: answer(method, params) };
    Deno.stdout.writeSync(new TextEncoder().encode(`${notice}\n${JSON.stringify(reply)}\n`));
  }
}
