/** The runtime's contract, run over both implementations. */

import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("runtime files", import.meta.resolve("./runtime_files_cases.ts"));
await testOnBothRuntimes("runtime commands", import.meta.resolve("./runtime_commands_cases.ts"));
await testOnBothRuntimes("runtime host", import.meta.resolve("./runtime_host_cases.ts"));
