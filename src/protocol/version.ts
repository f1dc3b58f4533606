/** The version of svc, used by the package, the daemon and the hello frame. */

/** Must match deno.json. */
export const VERSION = "0.1.0";
