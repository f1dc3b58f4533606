/** Cancelling a message to a host that is offline, over both stores and on both runtimes. */
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("offline host", import.meta.resolve("./offline_cancel_cases.ts"));
