/** The bus's contract, local and over NATS, on both runtimes. [run-nats] */
import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("bus", import.meta.resolve("./bus_cases.ts"));
