/** What works at which address, and tunnels: in browsers, cryptography and notifications need https or localhost. */
import { parseJson } from "../protocol/json.ts";
import { UsageError } from "./output.ts";
import type { Commands, PipedChild } from "../runtime/types.ts";

interface ReachFacts {
  /** `http://127.0.0.1:7420` or `https://…`, where the relay listens. */
  url: string;
  /** The address that others use, from `--public-url` or a tunnel. */
  publicUrl: string | undefined;
  /** This machine's address on the local network. */
  lanAddress: string | undefined;
}

/** The address that `--public-url` gives, without a trailing slash. Throws UsageError. */
export function readPublicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { username, password, search, hash } = URL.canParse(text) ? new URL(text) : {};
  // Each of these would break or reveal something in the link.
  const isPlain = [username, password, search, hash].every((part) => part === "");
  if (/^https?:\/\//.test(text) && isPlain && !/[?#]/.test(text)) return text.replace(/\/+$/, "");
  throw new UsageError(`Cannot use the public address "${text}": give one such as https://relay.example.`);
}

/**
 * The address in a pairing link: the one that was given, else the one that the relay was started with, else `baseUrl`.
 * The relay's is used only if this machine reaches it by loopback: any other `baseUrl` also works from elsewhere.
 */
export function phoneAddress(
  baseUrl: string,
  { given, ofRelay }: { given: string | undefined; ofRelay: string | undefined },
): string {
  const known = isLoopback(baseUrl) ? readPublicUrl(ofRelay) : undefined;
  return readPublicUrl(given) ?? known ?? localName(baseUrl);
}

/** The address that the phone should open, and lines on what works at which address. */
export function reach({ url, publicUrl, lanAddress }: ReachFacts): { link: string; lines: string[] } {
  const link = publicUrl ?? networkName(url, lanAddress);
  const lines = [`On this machine: ${localName(url)} (everything works).`];
  if (publicUrl === undefined && isLoopback(link)) {
    lines.push("From the phone: not yet. This relay listens on this machine only. Add one of");
    lines.push("  --tunnel                       a tailscale or cloudflared tunnel, https");
    // At the port that this relay has: the default may be taken.
    const { port, protocol } = new URL(url);
    const network = `--listen 0.0.0.0:${port || (protocol === "https:" ? "443" : "80")}`;
    lines.push(`  ${network.padEnd(30)} the local network, plain http: messages work, sealing does not`);
    lines.push("  --tls-cert FILE --tls-key FILE your own certificate, with --listen and --public-url");
  } else {
    lines.push(`From the phone: ${link} (${link.startsWith("https:") ? "everything works" : PLAIN}).`);
  }
  return { link, lines };
}

const PLAIN = "plain http: messages work; sealing and notifications need https";

export function isLoopback(url: string): boolean {
  return ["127.0.0.1", "[::1]", "localhost"].includes(new URL(url).hostname);
}

/** Every browser treats localhost as secure; some do not treat 127.0.0.1 so. */
export function localName(url: string): string {
  return renamed(url, { from: ["127.0.0.1", "[::1]", ...ANY_ADDRESS], to: "localhost" });
}

/** Replaces an address that means "every address", which a phone cannot open. */
function networkName(url: string, lanAddress: string | undefined): string {
  return localName(lanAddress === undefined ? url : renamed(url, { from: ANY_ADDRESS, to: lanAddress }));
}

const ANY_ADDRESS: readonly string[] = ["0.0.0.0", "[::]"];

function renamed(url: string, { from, to }: { from: readonly string[]; to: string }): string {
  const address = new URL(url);
  if (from.includes(address.hostname)) address.hostname = to;
  return address.href.replace(/\/$/, "");
}

interface Tunnel {
  url: string;
  /** Ends what `openTunnel` started. */
  close(): Promise<void>;
}

/** How long a tunnel may take to print its address, in milliseconds. */
const TUNNEL_LIMIT_MS = 30_000;
const CLOUDFLARED_URL = /https:\/\/[a-z0-9-]+\.trycloudflare\.com/;

/**
 * Opens a tunnel to the relay at `url` with tailscale or cloudflared. Throws Error when neither is installed, or when it
 * does not start.
 */
export async function openTunnel(commands: Commands, url: string): Promise<Tunnel> {
  const target = renamed(url, { from: ANY_ADDRESS, to: "127.0.0.1" });
  if (await commands.which("tailscale")) return await tailscale(commands, target);
  if (await commands.which("cloudflared")) return await cloudflared(commands, target);
  throw new Error(
    'Cannot open a tunnel: neither "tailscale" nor "cloudflared" is installed. Install one, or pass --public-url with an https address of your own.',
  );
}

/** Ports that `tailscale funnel` supports too. */
const TAILSCALE_PORTS = [443, 8443, 10_000];

async function tailscale(commands: Commands, target: string): Promise<Tunnel> {
  const taken = await servedPorts(commands, target);
  const free = TAILSCALE_PORTS.find((one) => !taken.has(one));
  if (free === undefined) {
    throw new Error(
      `Cannot open a tunnel: "tailscale serve" already serves something else at the ports ${
        TAILSCALE_PORTS.join(", ")
      }. Serve ${target} yourself, and pass its address as --public-url.`,
    );
  }
  const served = await commands.run(["tailscale", "serve", "--bg", `--https=${free}`, target]);
  if (served.code !== 0) {
    throw new Error(`Cannot open a tunnel: tailscale serve failed: ${served.stderr.trim()}`);
  }
  const status = await commands.run(["tailscale", "status", "--json"]);
  const name = /"DNSName":\s*"([^"]+?)\.?"/.exec(new TextDecoder().decode(status.stdout))?.[1];
  const close = async (): Promise<void> => {
    await commands.run(["tailscale", "serve", `--https=${free}`, "off"]);
  };
  if (name !== undefined) return { url: `https://${name}${free === 443 ? "" : `:${free}`}`, close };
  await close();
  throw new Error("Cannot open a tunnel: tailscale status reports no DNSName. Is this machine logged in?");
}

/** Part of what `tailscale serve status --json` prints. `Foreground` has the same for each `tailscale serve` that still runs. */
interface ServeConfig {
  TCP?: Record<string, unknown>;
  Web?: Record<string, { Handlers?: Record<string, { Proxy?: string }> }>;
  Foreground?: Record<string, ServeConfig>;
}

/** The ports that tailscale serves for other targets: one with this target was left by a killed `svc up`. */
async function servedPorts(commands: Commands, target: string): Promise<ReadonlySet<number>> {
  const { code, stdout } = await commands.run(["tailscale", "serve", "status", "--json"]);
  const config = code === 0 ? parseJson(new TextDecoder().decode(stdout))?.value as ServeConfig : undefined;
  const taken = new Set<number>();
  for (const { TCP = {}, Web = {} } of [config ?? {}, ...Object.values(config?.Foreground ?? {})]) {
    const own = Object.entries(Web).filter(([, { Handlers = {} }]) =>
      Object.entries(Handlers).every(([path, { Proxy }]) => path === "/" && Proxy === target)
    ).map(([host]) => host.replace(/^.*:/, ""));
    for (const port of Object.keys(TCP)) if (!own.includes(port)) taken.add(Number(port));
  }
  return taken;
}

async function cloudflared(commands: Commands, target: string): Promise<Tunnel> {
  const child = commands.pipe(["cloudflared", "tunnel", "--url", target]);
  const timer = setTimeout(() => child.kill("SIGTERM"), TUNNEL_LIMIT_MS);
  const url = await Promise.race([addressIn(child.stderr), addressIn(child.stdout)]);
  clearTimeout(timer);
  const close = async (): Promise<void> => {
    child.kill("SIGTERM");
    await child.exited;
  };
  if (url !== undefined) return { url, close };
  await close();
  throw new Error("Cannot open a tunnel: cloudflared exited without an address. Run it yourself to see why.");
}

/** Keeps reading after the address, so that the program never blocks on a full pipe. */
async function addressIn(stream: PipedChild["stdout"]): Promise<string | undefined> {
  const chunks = stream[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  for (let text = "";;) {
    const { done, value } = await chunks.next();
    if (done) return undefined;
    text = (text + decoder.decode(value, { stream: true })).slice(-4_096);
    const url = CLOUDFLARED_URL.exec(text)?.[0];
    if (url === undefined) continue;
    void drain(chunks);
    return url;
  }
}

async function drain(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await chunks.next()).done);
}
