/** The program: `svc`. */
import { runtime } from "#runtime-lean";
import { start } from "./src/cli/start.ts";

runtime.exit(await start(runtime.args));
