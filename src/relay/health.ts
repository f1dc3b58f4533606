/** Health, readiness and metrics. */
import { errorText } from "../async/error_text.ts";
import { VERSION } from "../protocol/version.ts";
import { authenticate, keyOfRequest } from "./auth.ts";
import { type Call, json } from "./call.ts";
import type { Services } from "./services.ts";

/** `GET /healthz`: the process answers. */
export function healthy(): Response {
  return json({ status: "ok", version: VERSION });
}

/** `GET /readyz`: the store can be written and the other nodes reached. */
export async function ready({ store, bus, log }: Services): Promise<Response> {
  try {
    await Promise.all([store.ready(), bus.ready()]);
    return json({ status: "ok", version: VERSION });
  } catch (error) {
    log(`! not ready: ${errorText(error)}`);
    return json({ status: "unavailable", version: VERSION }, 503);
  }
}

/** `GET /metrics`: for this machine, or for a key with the scope admin. */
export async function metrics(services: Services, call: Call): Promise<Response> {
  if (!isLocal(call, services.publicUrl)) {
    await authenticate(services.store, { key: keyOfRequest(call.request), scopes: ["admin"] });
  }
  return new Response(services.metrics.render([services.hub.gauge]), {
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
  });
}

/** Headers of a proxy on this machine, which passes strangers on from its own address. */
const FORWARDED = ["forwarded", "x-forwarded-for", "x-real-ip", "cf-connecting-ip", "tailscale-user-login"];

/** The Host tells a page apart whose name a browser on this machine was made to look up as 127.0.0.1. */
function isLocal({ address, request }: Call, publicUrl: string | undefined): boolean {
  const isLoopback = address === "::1" || /^(::ffff:)?127\./.test(address);
  const isForwarded = FORWARDED.some((name) => request.headers.has(name));
  return isLoopback && !isForwarded && isOwnHost(request.headers.get("host"), publicUrl);
}

function isOwnHost(host: string | null, publicUrl: string | undefined): boolean {
  if (host === null || !URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  if (hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname)) return true;
  return publicUrl !== undefined && hostname === new URL(publicUrl).hostname;
}
