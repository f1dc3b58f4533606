/** The page's service worker: each of its duties is a file in `worker/` that adds its own listeners. */
import { showPushes } from "./worker/push.ts";
import { pushParts } from "./worker/push_parts.ts";
import type { WorkerScope } from "./worker/scope.ts";
import { keepShell, type Shell } from "./worker/shell.ts";

/** Written into the worker by `scripts/build_phone.ts`. */
declare const SHELL: Shell;
declare const self: WorkerScope;

keepShell(self, SHELL);
showPushes(self, pushParts(self));
