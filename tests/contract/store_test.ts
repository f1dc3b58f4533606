/** The store's contract, on both runtimes. [run-sqlite] */
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("store on SQLite", import.meta.resolve("./store_sqlite_cases.ts"));
