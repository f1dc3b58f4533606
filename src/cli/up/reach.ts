/** Which address of the relay works for what: a browser gives cryptography and notifications on https or localhost only. */

export interface ReachFacts {
  /** `http://127.0.0.1:7420` or `https://…`, as the relay listens. */
  url: string;
  /** The address that others use, from `--public-url` or a tunnel. */
  publicUrl: string | undefined;
}

/** The address that the phone should open, and one line for each thing that does or does not work. */
export function reach({ url, publicUrl }: ReachFacts): { link: string; lines: string[] } {
  const link = publicUrl ?? localName(url);
  const lines = [`On this machine: ${localName(url)} (everything works).`];
  if (publicUrl !== undefined) {
    const secure = publicUrl.startsWith("https:");
    lines.push(`From the phone: ${publicUrl} (${secure ? "everything works" : PLAIN}).`);
  } else if (isLoopback(url)) {
    lines.push("From the phone: not yet. This relay listens on this machine only. Add one of");
    lines.push("  --tunnel                       a tailscale or cloudflared tunnel, https");
    lines.push(
      "  --listen 0.0.0.0:7420          the local network, plain http: messages work, sealing does not",
    );
    lines.push("  --tls-cert FILE --tls-key FILE your own certificate, with --listen");
  } else {
    lines.push(`From the phone: http://THIS-MACHINE:${new URL(url).port} (${PLAIN}).`);
  }
  return { link, lines };
}

const PLAIN = "plain http: messages work; sealing and notifications need https";

function isLoopback(url: string): boolean {
  return ["127.0.0.1", "[::1]", "localhost"].includes(new URL(url).hostname);
}

/** Browsers call localhost secure, and 127.0.0.1 not everywhere. */
function localName(url: string): string {
  const address = new URL(url);
  if (["127.0.0.1", "0.0.0.0", "[::]", "[::1]"].includes(address.hostname)) address.hostname = "localhost";
  return address.href.replace(/\/$/, "");
}
