/** svc on a machine whose name is that of the variable TEST_HOSTNAME. */

const name = Deno.env.get("TEST_HOSTNAME") ?? "";
Object.defineProperty(Deno, "hostname", { value: () => name });
await import("../../cli.ts");
