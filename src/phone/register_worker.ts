/** Registers the service worker where the browser has them: on https and localhost. */

/** The worker's file, beside the page. */
const WORKER = "service_worker.js";
/** The only policy for Trusted Types that the relay allows. */
const POLICY = "svc";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): {
    createScriptURL(url: string): string;
  };
}

/** Undefined where there are no service workers, or where the worker could not be loaded. */
export async function registerWorker(): Promise<ServiceWorkerRegistration | undefined> {
  // Undefined on pages that are not secure, which the type does not say.
  const container: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  try {
    return await container?.register(trusted(WORKER));
  } catch {
    return undefined;
  }
}

/** The one script that the page loads by a string; the policy accepts no other. */
function trusted(script: string): string {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  const createScriptURL = (url: string): string => {
    if (url !== WORKER) throw new TypeError(`Cannot load "${url}": only ${WORKER} is loaded by its name`);
    return url;
  };
  return types?.createPolicy(POLICY, { createScriptURL }).createScriptURL(script) ?? script;
}
