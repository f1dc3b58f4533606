/** Prints the requirements without a test, for the built capabilities or those in the arguments. */
import { readSources } from "../tests/helpers/sources.ts";
import { BUILT, CAPABILITIES, REQUIREMENTS } from "../tests/requirements.ts";
import { citations, uncovered } from "../tests/requirements/check.ts";

const named = CAPABILITIES.filter((capability) => Deno.args.includes(capability));
const wanted = named.length > 0 ? named : BUILT;
const missing = uncovered(REQUIREMENTS, citations(await readSources("tests")), wanted);
const lines = missing.map(({ id, source, text }) => `${id.padEnd(24)} ${source.padEnd(40)} ${text}`);
const total = REQUIREMENTS.filter((row) => wanted.includes(row.by)).length;
const summary = `${total - missing.length} of ${total} requirements of ${wanted.join(", ")} are covered`;
await Deno.stdout.write(new TextEncoder().encode([...lines, summary, ""].join("\n")));
Deno.exit(missing.length === 0 ? 0 : 1);
