/** Runs a helper program as another account of this machine: a real second uid, without groups or capabilities. */

/** A uid without an account; none is created. */
export const OTHER_UID = 12_345;

/** Only root can switch to another uid. */
export const canBecomeOther = Deno.uid() === 0 && Deno.build.os === "linux";

export interface OtherAccount extends AsyncDisposable {
  /** A folder that the other account owns. */
  home: string;
  /** Starts `tests/helpers/<script>`, which must not import anything. */
  start(script: string, args: readonly string[]): Deno.ChildProcess;
}

/** `root` is a folder that every account may enter. */
export async function otherAccount(root: string): Promise<OtherAccount> {
  const home = `${root}/other`;
  await Deno.mkdir(home, { mode: 0o755 });
  const deno = `${home}/deno`;
  await Deno.link(Deno.execPath(), deno).catch(() => Deno.copyFile(Deno.execPath(), deno));
  await Deno.chown(home, OTHER_UID, OTHER_UID);
  const copied = new Set<string>();
  return {
    home,
    start(script, args) {
      const path = `${home}/${script}`;
      if (!copied.has(script)) Deno.copyFileSync(new URL(script, import.meta.url), path);
      copied.add(script);
      Deno.chmodSync(path, 0o644);
      const ids = ["--reuid", String(OTHER_UID), "--regid", String(OTHER_UID), "--clear-groups"];
      return new Deno.Command("setpriv", {
        args: [
          ...ids,
          "--bounding-set=-all",
          "--inh-caps=-all",
          deno,
          "run",
          "-A",
          "--no-check",
          path,
          ...args,
        ],
        env: { HOME: home, DENO_DIR: `${home}/cache`, PATH: "/usr/bin:/bin", NO_COLOR: "1" },
        cwd: home,
        clearEnv: true,
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    },
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
}
