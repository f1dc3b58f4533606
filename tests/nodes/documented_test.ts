/** The examples of docs/operating.md for several relays, checked by the programs that read them: NATS, systemd and Compose. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { makeAuthority, nkeyUser, tlsLines } from "../helpers/nats_access.ts";
import { startNats } from "../helpers/nats_server.ts";
import { SVC } from "../helpers/program.ts";
import { run } from "../helpers/run.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { CHECKOUT } from "../helpers/sources.ts";
import { until } from "../helpers/until.ts";
import { cgroupFolder, startUserSystemd } from "../helpers/user_systemd.ts";

/** Returns the first block under a heading. */
async function documented(heading: string, language = "text"): Promise<string> {
  const page = await Deno.readTextFile(`${CHECKOUT}docs/operating.md`);
  const section = page.split(`### ${heading}\n`)[1]?.split("\n### ")[0] ?? "";
  const block = section.split(`\`\`\`${language}\n`)[1]?.split("```")[0];
  assert.ok(block !== undefined, `a block under ${heading}`);
  return block;
}

/** Replaces texts, each of which must exist. */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((filled, [from, to]) => {
    assert.ok(filled.includes(from), `the document has ${from}`);
    return filled.replaceAll(from, to);
  }, text);
}

async function has(program: string): Promise<boolean> {
  return (await run(["sh", "-c", `command -v ${program}`])).code === 0;
}

Deno.test("nats-server accepts the documented configuration [nodes-documented]", async () => {
  await using sandbox = await makeSandbox();
  const { root } = sandbox;
  await makeAuthority(`${root}/authority`);
  await tlsLines(`${root}/a`, `${root}/authority`);
  const [, nkey = ""] = /nkey: (\w+)/.exec(nkeyUser().lines.join()) ?? [];
  const config = fill(await documented("The NATS servers"), {
    "U…": nkey,
    "/etc/nats/a.crt": `${root}/a.pem`,
    "/etc/nats/a.key": `${root}/a.key`,
    "/var/lib/nats": `${root}/data`,
  });
  await Deno.writeTextFile(`${root}/nats.conf`, config);
  const env = { PATH: `${sandbox.env["PATH"]}:/usr/sbin` };
  const { code, stderr } = await run(["nats-server", "-c", `${root}/nats.conf`, "-t"], { env });
  assert.equal(code, 0, stderr);
});

/** Returns the command for Compose; undefined if only Docker itself is installed. */
async function compose(): Promise<string[] | undefined> {
  if (await has("docker-compose")) return ["docker-compose"];
  const plugin = ["docker", "compose"];
  return await has("docker") && (await run([...plugin, "version"])).code === 0 ? plugin : undefined;
}

Deno.test("Compose accepts the documented file [nodes-documented]", async () => {
  const program = await compose();
  if (program === undefined) {
    return say("skipped: Compose is missing: install Debian's package docker-compose");
  }
  await using sandbox = await makeSandbox();
  const file = `${sandbox.root}/compose.yaml`;
  await Deno.writeTextFile(file, await documented("The relays", "yaml"));
  const { code, stdout, stderr } = await run([...program, "-f", file, "config"]);
  assert.equal(code, 0, stderr);
  for (const service of ["nats", "nats-b", "nats-c", "relay"]) {
    assert.match(stdout, new RegExp(`^  ${service}:$`, "m"));
  }
});

Deno.test("systemd accepts the documented unit [nodes-documented]", async () => {
  if (!await has("systemd-analyze")) return say("skipped: systemd-analyze is missing");
  await using sandbox = await makeSandbox();
  const file = `${sandbox.root}/svc-relay.service`;
  await Deno.writeTextFile(file, fill(await documented("The relays"), { "/usr/local/bin/svc": "/bin/true" }));
  const { code, stdout, stderr } = await run(["systemd-analyze", "verify", file]);
  assert.deepEqual([code, stdout, stderr], [0, "", ""]);
});

const cgroups = await cgroupFolder();

Deno.test({
  name:
    "a real systemd runs the documented unit, with the credentials that only root can read, and starts it until NATS is there [nodes-documented]",
  ignore: cgroups === undefined,
  async fn() {
    await using sandbox = await makeSandbox();
    const { root } = sandbox;
    await makeAuthority(`${root}/authority`);
    const { lines, seed } = nkeyUser();
    const tls = await tlsLines(`${root}/server`, `${root}/authority`);
    const server = await startNats(`${root}/nats`, [...lines, ...tls]);
    await Deno.writeTextFile(`${root}/nats.nk`, seed, { mode: 0o400 });
    // A user's systemd manages no accounts and starts no network.
    const unit = fill(await documented("The relays"), {
      "/usr/local/bin/svc": SVC.join(" "),
      "0.0.0.0:7420": "127.0.0.1:0",
      "/var/lib/svc": "%S/svc",
      "tls://a:4222,tls://b:4222,tls://c:4222": server.url,
      "/etc/svc/nats.nk": `${root}/nats.nk`,
      "/etc/svc/nats-ca.pem": `${root}/authority.pem`,
      "DynamicUser=yes\n": "",
      "StandardOutput=journal": `StandardOutput=append:${root}/out`,
    });
    await using systemd = await startUserSystemd(sandbox, cgroups ?? "");
    const units = `${sandbox.home}/.config/systemd/user`;
    await Deno.mkdir(units, { recursive: true });
    await Deno.writeTextFile(`${units}/svc-relay.service`, unit);
    const systemctl = (...args: string[]) => run(["systemctl", "--user", ...args], { env: systemd.env });
    try {
      await systemctl("daemon-reload");
      const started = await systemctl("start", "svc-relay");
      assert.equal(started.code, 0, started.stderr);
      const output = () => Deno.readTextFile(`${root}/out`).catch(() => "");
      const starts = async () => (await output()).split("svc server listening on ").length - 1;
      const state = async () => {
        const properties = "--property=ActiveState,Result,ExecMainStatus,NRestarts";
        return (await systemctl("show", properties, "svc-relay")).stdout;
      };
      await until("the relay", async () => {
        const stdout = await state();
        if (/^(?:ActiveState=failed|NRestarts=[1-9])/m.test(stdout)) {
          throw new Error(`${stdout}${await output()}`);
        }
        return await starts() === 1;
      });
      await systemctl("kill", "--signal=SIGKILL", "svc-relay");
      await until("the relay again", async () => await starts() === 2);
      assert.equal((await systemctl("stop", "svc-relay")).code, 0);
      await server.stop("SIGKILL");
      await systemctl("start", "svc-relay");
      // systemd's default is to give up after five starts within ten seconds.
      await until("more starts than systemd's default", async () => {
        const shown = await state();
        assert.doesNotMatch(shown, /^ActiveState=failed/m);
        return Number(/^NRestarts=(\d+)/m.exec(shown)?.[1]) > 7;
      });
      await server.restart();
      await until("the relay after NATS", async () => await starts() === 3);
      assert.equal((await systemctl("stop", "svc-relay")).code, 0);
    } finally {
      await server.stop("SIGKILL");
    }
  },
});
