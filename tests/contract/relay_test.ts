/** The relay on a real port, on both runtimes. [run-node] */
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("relay", import.meta.resolve("./relay_cases.ts"));
await testOnBothRuntimes("HTTP server", import.meta.resolve("./relay_http_server_cases.ts"));
