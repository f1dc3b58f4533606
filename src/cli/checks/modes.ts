/** Checks that nobody else can read `~/.svc`, and mends what they could. */
import { runtime } from "#runtime";
import { looseEntries, secureHome } from "../../home/permissions.ts";
import { type Check, fault, messageOf, ok, warning } from "./check.ts";

export const modesCheck: Check = {
  name: "home",
  async run({ paths }) {
    const { files, uid } = runtime;
    if ((await files.info(paths.root)) === undefined) return ok(`${paths.root} is not there yet`);
    const loose = await looseEntries(files, paths);
    try {
      await secureHome(files, { paths, uid });
    } catch (error) {
      return fault(messageOf(error), "give it to your account, or set SVC_HOME");
    }
    if (loose.length === 0) return ok(`${paths.root}, for this account alone`);
    const names = loose.map(({ path }) => path).join(", ");
    return warning(
      `others could read ${names}; mended`,
      "make a new key if you do not trust who could read it",
    );
  },
};
