/** Where the parts of svc that are not code lie: in the npm package beside its files, or in the checkout. */
import { runtime } from "#runtime";

/** The built phone app; undefined when it was not built. */
export async function phoneDirectory(): Promise<string | undefined> {
  for (const place of ["./dist/phone/", "../../dist/phone/"]) {
    const directory = new URL(place, import.meta.url).pathname;
    if (await runtime.files.info(`${directory}index.html`)) return directory;
  }
  return undefined;
}

/** The plugin's folder, an absolute path without a trailing slash. Throws when it is missing. */
export async function pluginDirectory(): Promise<string> {
  for (const place of ["./plugin/", "../../plugin/"]) {
    const directory = decodeURIComponent(new URL(place, import.meta.url).pathname).replace(/\/$/, "");
    if (await runtime.files.info(`${directory}/.claude-plugin/marketplace.json`)) return directory;
  }
  throw new Error(`Cannot find the folder "plugin" of this svc: install svc again.`);
}
