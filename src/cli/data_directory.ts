/** Where the relay of this account keeps its store. */
import { accountPaths } from "./context.ts";

/** `--data`, else `server` in `~/.svc`. */
export async function dataDirectory({ data }: { data?: string | undefined }): Promise<string> {
  return data ?? `${(await accountPaths()).root}/server`;
}
