/** Runs svc as on a machine whose hostname is $TEST_HOSTNAME. */

const name = Deno.env.get("TEST_HOSTNAME") ?? "";
Object.defineProperty(Deno, "hostname", { value: () => name });
await import("../../cli.ts");
