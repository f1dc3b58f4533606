/** Checks that svc can write in `~/.svc`, and that nobody else can read there; mends what they could. */
import { errorText } from "../../async/error_text.ts";
import { runtime } from "#runtime";
import { looseEntries, secureHome } from "../../home/permissions.ts";
import type { Files } from "../../runtime/types.ts";
import { type Check, fault, ok, warning } from "./check.ts";

const OWN_HOME = "give it to your account, or set SVC_HOME";

export const modesCheck: Check = {
  name: "home",
  async run({ paths }) {
    const { files, uid } = runtime;
    const info = await files.info(paths.root);
    if (info === undefined) return ok(`${paths.root} is not there yet`);
    if (!info.isDirectory) {
      return fault(
        `${paths.root} is no directory`,
        "move it away, or set SVC_HOME to a directory of your own",
      );
    }
    const loose = await looseEntries(files, paths);
    try {
      await secureHome(files, { paths, uid });
      await tryWrite(files, paths.root);
    } catch (error) {
      return fault(errorText(error), OWN_HOME);
    }
    if (loose.length === 0) return ok(`${paths.root}, for this account alone`);
    const names = loose.map(({ path }) => path).join(", ");
    return warning(
      `others could read ${names}; mended`,
      "make a new key if you do not trust who could read it",
    );
  },
};

/** Throws Error when nothing can be written there: another owner, no space, a file system that is read-only. */
export async function tryWrite(
  files: Pick<Files, "createText" | "remove">,
  directory: string,
): Promise<void> {
  const path = `${directory}/.verify-${crypto.randomUUID()}`;
  try {
    await files.createText(path, "\n", { mode: 0o600 });
  } catch (error) {
    throw new Error(`Cannot write in "${directory}": ${errorText(error)}`);
  }
  await files.remove(path);
}
