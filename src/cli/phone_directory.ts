/** Where the built phone app lies: `dist/phone` of the npm package or of the checkout. */
import { runtime } from "#runtime";

const PLACES = ["./dist/phone/", "../../dist/phone/"];

/** Undefined when it was not built. */
export async function phoneDirectory(): Promise<string | undefined> {
  for (const place of PLACES) {
    const directory = new URL(place, import.meta.url).pathname;
    if (await runtime.files.info(`${directory}index.html`)) return directory;
  }
  return undefined;
}
