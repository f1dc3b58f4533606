/** The link over real sockets, on Deno and on Node. */

import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("client link", import.meta.resolve("./client_link_cases.ts"));
