/** The runtime's contract, over both of its implementations. */

import { testOnBothRuntimes } from "../helpers/on_node.ts";

for (const part of ["files", "commands", "host"]) {
  await testOnBothRuntimes(`runtime ${part}`, import.meta.resolve(`./runtime_${part}_cases.ts`));
}
