/** Which address of the relay works for what: a browser gives cryptography and notifications on https or localhost only. */

export interface ReachFacts {
  /** `http://127.0.0.1:7420` or `https://…`, as the relay listens. */
  url: string;
  /** The address that others use, from `--public-url` or a tunnel. */
  publicUrl: string | undefined;
  /** Of this machine on the local network. */
  lanAddress: string | undefined;
}

/** The address that the phone should open, and one line for each thing that does or does not work. */
export function reach({ url, publicUrl, lanAddress }: ReachFacts): { link: string; lines: string[] } {
  const link = publicUrl ?? networkName(url, lanAddress);
  const lines = [`On this machine: ${localName(url)} (everything works).`];
  if (publicUrl === undefined && isLoopback(link)) {
    lines.push("From the phone: not yet. This relay listens on this machine only. Add one of");
    lines.push("  --tunnel                       a tailscale or cloudflared tunnel, https");
    lines.push(
      "  --listen 0.0.0.0:7420          the local network, plain http: messages work, sealing does not",
    );
    lines.push("  --tls-cert FILE --tls-key FILE your own certificate, with --listen");
  } else {
    lines.push(`From the phone: ${link} (${link.startsWith("https:") ? "everything works" : PLAIN}).`);
  }
  return { link, lines };
}

const PLAIN = "plain http: messages work; sealing and notifications need https";

function isLoopback(url: string): boolean {
  return ["127.0.0.1", "[::1]", "localhost"].includes(new URL(url).hostname);
}

/** Browsers call localhost secure, and 127.0.0.1 not everywhere. */
export function localName(url: string): string {
  return renamed(url, { from: ["127.0.0.1", "[::1]", ...ANY_ADDRESS], to: "localhost" });
}

/** A phone cannot open an address that only means "all of them". */
function networkName(url: string, lanAddress: string | undefined): string {
  return localName(lanAddress === undefined ? url : renamed(url, { from: ANY_ADDRESS, to: lanAddress }));
}

const ANY_ADDRESS: readonly string[] = ["0.0.0.0", "[::]"];

function renamed(url: string, { from, to }: { from: readonly string[]; to: string }): string {
  const address = new URL(url);
  if (from.includes(address.hostname)) address.hostname = to;
  return address.href.replace(/\/$/, "");
}
