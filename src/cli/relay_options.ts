/** Options that the commands for a relay on this machine share: its folder and its certificate. */
import { runtime } from "#runtime";
import { accountPaths } from "./context.ts";
import { UsageError } from "./exit.ts";

/** Where the relay keeps its store: `--data`, else `server` in `~/.svc`. */
export async function dataDirectory({ data }: { data?: string | undefined }): Promise<string> {
  return data ?? `${(await accountPaths()).root}/server`;
}

/** The PEM texts that `--tls-cert` and `--tls-key` name; undefined without the options. Throws when one is missing or cannot be read. */
export async function readTls(
  options: { tlsCert?: string | undefined; tlsKey?: string | undefined },
): Promise<{ cert: string; key: string } | undefined> {
  const { tlsCert, tlsKey } = options;
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new UsageError("--tls-cert and --tls-key go together: give both, each with a PEM file.");
  }
  return { cert: await readPem(tlsCert), key: await readPem(tlsKey) };
}

async function readPem(path: string): Promise<string> {
  const text = await runtime.files.readText(path);
  if (text === undefined) throw new Error(`Cannot read "${path}": there is no such file. Name a PEM file.`);
  return text;
}
