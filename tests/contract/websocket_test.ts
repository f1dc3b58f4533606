/** RFC 6455, on both runtimes. */
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("RFC 6455", import.meta.resolve("./websocket_cases.ts"));
