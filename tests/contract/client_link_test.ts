import { testOnBothRuntimes } from "../helpers/on_node.ts";

await testOnBothRuntimes("client link", import.meta.resolve("./client_link_cases.ts"));
