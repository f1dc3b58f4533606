/** A tunnel that gives the relay an https address: tailscale's or cloudflared's, whichever is installed. */
import type { Commands, PipedChild } from "../../runtime/types.ts";

export interface Tunnel {
  url: string;
  /** Ends what `openTunnel` started. */
  close(): Promise<void>;
}

/** How long a tunnel may take to tell its address. */
const TUNNEL_LIMIT_MS = 30_000;
const CLOUDFLARED_URL = /https:\/\/[a-z0-9-]+\.trycloudflare\.com/;

/** Throws when neither program is installed, or the one that is does not come up. */
export async function openTunnel(commands: Commands, port: number): Promise<Tunnel> {
  if (await commands.which("tailscale")) return await tailscale(commands, port);
  if (await commands.which("cloudflared")) return await cloudflared(commands, port);
  throw new Error(
    'Cannot open a tunnel: neither "tailscale" nor "cloudflared" is installed. Install one, or give --public-url with an https address of yours.',
  );
}

async function tailscale(commands: Commands, port: number): Promise<Tunnel> {
  const target = `http://127.0.0.1:${port}`;
  const served = await commands.run(["tailscale", "serve", "--bg", target]);
  if (served.code !== 0) {
    throw new Error(`Cannot open a tunnel: tailscale serve says: ${served.stderr.trim()}`);
  }
  const status = await commands.run(["tailscale", "status", "--json"]);
  const name = /"DNSName":\s*"([^"]+?)\.?"/.exec(new TextDecoder().decode(status.stdout))?.[1];
  const close = async (): Promise<void> => {
    await commands.run(["tailscale", "serve", "--https=443", "off"]);
  };
  if (name !== undefined) return { url: `https://${name}`, close };
  await close();
  throw new Error("Cannot open a tunnel: tailscale status names no DNSName. Is this machine logged in?");
}

async function cloudflared(commands: Commands, port: number): Promise<Tunnel> {
  const child = commands.pipe(["cloudflared", "tunnel", "--url", `http://127.0.0.1:${port}`]);
  const timer = setTimeout(() => child.kill("SIGTERM"), TUNNEL_LIMIT_MS);
  const url = await Promise.race([addressIn(child.stderr), addressIn(child.stdout)]);
  clearTimeout(timer);
  const close = async (): Promise<void> => {
    child.kill("SIGTERM");
    await child.exited;
  };
  if (url !== undefined) return { url, close };
  await close();
  throw new Error("Cannot open a tunnel: cloudflared ended without an address. Run it by hand to see why.");
}

/** Reads on after the address, so that the program never blocks on a full pipe. */
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
