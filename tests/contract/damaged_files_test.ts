/** Damaged files, on both runtimes. */
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("damaged files", import.meta.resolve("./damaged_files_cases.ts"));
