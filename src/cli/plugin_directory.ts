/** Where `plugin/` lies: in the npm package or in the checkout. */
import { runtime } from "#runtime";

const PLACES = ["./plugin/", "../../plugin/"];

/** Absolute, without a slash at its end. Throws when it is not there. */
export async function pluginDirectory(): Promise<string> {
  for (const place of PLACES) {
    const directory = decodeURIComponent(new URL(place, import.meta.url).pathname).replace(/\/$/, "");
    if (await runtime.files.info(`${directory}/.claude-plugin/marketplace.json`)) return directory;
  }
  throw new Error(`Cannot find the folder "plugin" of this svc: install svc again.`);
}
