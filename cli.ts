/** The program: `svc`. */
import { runtime } from "#runtime";
import { main } from "./src/cli/main.ts";

runtime.exit(await main(runtime.args));
