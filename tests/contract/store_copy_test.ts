/** Moving a relay's data between SQLite and NATS, on both runtimes. [run-migrate] */
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("copies of a store", import.meta.resolve("./store_copy_cases.ts"));
