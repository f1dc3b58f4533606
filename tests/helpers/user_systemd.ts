/** A real systemd as the service manager of one sandbox, with its own cgroup and `/run/systemd`. Needs root. */
import { run } from "./run.ts";
import type { Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

const SYSTEMD = "/lib/systemd/systemd";
/** Machines with both hierarchies mount the second one under `unified`. */
const CGROUPS = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];

/** Starts it with separate mounts, so that the machine's own systemd, if any, is neither visible nor affected. */
const START = `
set -e
echo $$ > "$1/cgroup.procs"
exec unshare --mount --cgroup sh -c '
  mount -t cgroup2 none /sys/fs/cgroup
  mkdir -p /run/systemd
  mount -t tmpfs tmpfs /run/systemd
  mkdir -p /run/systemd/system
  # What systemd mounts for a unit must reach that unit.
  mount --make-rshared /
  exec ${SYSTEMD} --user --unit=basic.target'
`;

export interface UserSystemd extends AsyncDisposable {
  /** The sandbox's environment, in which `systemctl --user` reaches it. */
  env: Record<string, string>;
}

/** Returns undefined if it cannot run here; the caller then reports that. */
export async function cgroupFolder(): Promise<string | undefined> {
  if (Deno.uid() !== 0 || !await exists(SYSTEMD)) return undefined;
  for (const folder of CGROUPS) {
    const isVersion2 = await exists(`${folder}/cgroup.controllers`);
    const hasKill = isVersion2 && (await run(["sh", "-c", `ls ${folder}/*/cgroup.kill | head -1`])).stdout;
    if (isVersion2 && hasKill !== undefined) return folder;
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

export async function startUserSystemd(sandbox: Sandbox, parent: string): Promise<UserSystemd> {
  const cgroup = `${parent}/svc-test-${crypto.randomUUID().slice(0, 8)}`;
  await Deno.mkdir(cgroup);
  const folder = `${sandbox.root}/run`;
  await Deno.mkdir(folder, { mode: 0o700 });
  const env = { ...sandbox.env, XDG_RUNTIME_DIR: folder };
  const child = new Deno.Command("sh", {
    args: ["-c", START, "sh", cgroup],
    env,
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const exited = child.status;
  // systemctl answers "offline" before systemd can be reached, and for a long time afterwards.
  await until(
    "systemd",
    async () => (await run(["systemctl", "--user", "daemon-reload"], { env })).code === 0,
  );
  return {
    env,
    async [Symbol.asyncDispose](): Promise<void> {
      await Deno.writeTextFile(`${cgroup}/cgroup.kill`, "1");
      await exited;
      await until("an empty cgroup", () => removeTree(cgroup));
    },
  };
}

/** Removes cgroups, the inner ones first: only `rmdir` can remove them. */
async function removeTree(path: string): Promise<boolean> {
  const { code } = await run(["find", path, "-depth", "-type", "d", "-delete"]);
  return code === 0;
}
