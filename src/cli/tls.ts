/** Reads the certificate and the key that `--tls-cert` and `--tls-key` name. */
import { runtime } from "#runtime";
import { UsageError } from "./exit.ts";

/** PEM texts; undefined without the options. Throws when one is missing or cannot be read. */
export async function readTls(
  words: { tlsCert?: string | undefined; tlsKey?: string | undefined },
): Promise<{ cert: string; key: string } | undefined> {
  const { tlsCert, tlsKey } = words;
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
