/** Debian's nginx with the configuration from docs/operating.md, in front of a test's relays. */
import { once } from "node:events";
import { createServer } from "node:net";
import { CHECKOUT } from "./sources.ts";
import { until } from "./until.ts";

const PROGRAMS = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/opt/homebrew/bin/nginx"];

export const NO_NGINX = "skipped: nginx is missing: install Debian's package nginx-light";

export interface RunningBalancer {
  port: number;
  close(): Promise<void>;
}

export async function nginxProgram(): Promise<string | undefined> {
  for (const path of PROGRAMS) {
    if (await Deno.stat(path).then(({ isFile }) => isFile, () => false)) return path;
  }
  return undefined;
}

/** Returns the documented configuration with this machine's ports in place of the documented hosts. */
async function documented(port: number, ports: readonly number[]): Promise<string> {
  const page = await Deno.readTextFile(`${CHECKOUT}docs/operating.md`);
  const text = /^### The load balancer$[\s\S]*?```text\n([\s\S]*?)```/m.exec(page)?.[1] ?? "";
  const hosts = ["a", "b", "c"];
  return hosts.reduce(
    (config, host, n) => config.replace(`server ${host}:7420`, `server 127.0.0.1:${ports[n]}`),
    text.replace("listen 80;", `listen 127.0.0.1:${port};`),
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Starts nginx in front of three relays. */
export async function startNginx(program: string, ports: readonly number[]): Promise<RunningBalancer> {
  const folder = await Deno.makeTempDir({ prefix: "svc-nginx-" });
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  const config = [
    `daemon off; pid ${folder}/pid; error_log stderr;`,
    "events { worker_connections 1024; }",
    `http { access_log off; ${temporary}`,
    await documented(port, ports),
    "}",
  ];
  await Deno.writeTextFile(`${folder}/nginx.conf`, config.join("\n"));
  const child = new Deno.Command(program, {
    args: ["-p", folder, "-c", `${folder}/nginx.conf`],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let said = "";
  const reading = child.stderr.pipeThrough(new TextDecoderStream())
    .pipeTo(new WritableStream({ write: (text) => void (said += text) }));
  let isOver = false;
  const exited = child.status.then(() => void (isOver = true));
  await until("nginx listens", async () => {
    if (isOver) throw new Error(`nginx ended: ${said}`);
    return await fetch(`http://127.0.0.1:${port}/healthz`).then(async (answer) => {
      await answer.body?.cancel();
      return answer.ok;
    }, () => false);
  });
  return {
    port,
    async close() {
      child.kill("SIGTERM");
      await Promise.all([exited, reading]);
      await Deno.remove(folder, { recursive: true });
    },
  };
}
