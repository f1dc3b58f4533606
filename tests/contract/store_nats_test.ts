/** The store's contract over NATS JetStream, on both runtimes. [run-nats] */
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("store on NATS", import.meta.resolve("./store_nats_cases.ts"));
await testOnBothRuntimes("nodes on NATS", import.meta.resolve("./store_nats_nodes_cases.ts"));
await testOnBothRuntimes("answers on NATS", import.meta.resolve("./store_nats_answers_cases.ts"));
await testOnBothRuntimes("a lagging NATS", import.meta.resolve("./store_nats_lag_cases.ts"));
await testOnBothRuntimes(
  "a NATS that has lost its newest messages",
  import.meta.resolve("./store_nats_loss_cases.ts"),
);
