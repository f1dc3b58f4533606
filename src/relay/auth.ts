/** Who calls: the key of a request or a handshake, and whether it has the scope. */
import { decodeBase64url } from "../async/base64url.ts";
import { decodeUtf8 } from "../async/utf8.ts";
import type { Scope } from "../protocol/http.ts";
import { KEY_SUBPROTOCOL_PREFIX, SUBPROTOCOL } from "../protocol/limits.ts";
import type { KeyRecord, Store } from "../store/store.ts";
import { findKey } from "./keys.ts";
import { Refusal } from "./problems.ts";

/** The key's record; refuses a key that is missing or wrong, and one that has none of the scopes. */
export async function authenticate(
  store: Store,
  { key, scopes }: { key: string | undefined; scopes: readonly Scope[] },
): Promise<KeyRecord> {
  const found = key === undefined ? undefined : await findKey(store, key);
  if (found === undefined) {
    const why = key === undefined ? "there is none" : "it is unknown or revoked";
    throw new Refusal("unauthenticated", `Cannot take the API key: ${why}; send a working one as X-API-Key`);
  }
  if (!scopes.some((scope) => found.scopes.includes(scope))) {
    throw new Refusal("missing_scope", `The key "${found.name}" lacks the scope ${scopes.join(" or ")}`);
  }
  return found;
}

export function keyOfRequest(request: Request): string | undefined {
  return request.headers.get("x-api-key") ?? undefined;
}

/** The key of a handshake: the subprotocol `svc.key.<base64url of the key>`, or the header. Never the URL. */
export function keyOfHandshake(request: Request): string | undefined {
  const offered = offeredProtocols(request).find((name) => name.startsWith(KEY_SUBPROTOCOL_PREFIX));
  if (offered === undefined) return keyOfRequest(request);
  const bytes = decodeBase64url(offered.slice(KEY_SUBPROTOCOL_PREFIX.length));
  return (bytes && decodeUtf8(bytes)) ?? "";
}

/** A client that offers subprotocols must offer ours, or it would not know what it speaks. */
export function checkSubprotocol(request: Request): void {
  const offered = offeredProtocols(request);
  if (offered.length === 0 || offered.includes(SUBPROTOCOL)) return;
  throw new Refusal("invalid_request", `Cannot speak the offered subprotocols: offer ${SUBPROTOCOL}`);
}

function offeredProtocols(request: Request): string[] {
  const header = request.headers.get("sec-websocket-protocol") ?? "";
  return header.split(",").map((name) => name.trim()).filter((name) => name !== "");
}
