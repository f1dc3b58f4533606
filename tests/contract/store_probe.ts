/** The program of `store_node_warning_test.ts`: opens and closes a store and emits another warning. */
import process from "node:process";
import { openStore } from "../../src/store/sqlite.ts";

const opening = openStore(process.argv[2] ?? "");
process.emitWarning("something else");
await (await opening).close();
