/** The version of svc: of the package, of the daemon, and of what says hello. */

/** The same as in deno.json. */
export const VERSION = "0.1.0";
