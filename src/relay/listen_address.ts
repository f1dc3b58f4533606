/** The address that a relay listens on, as it is written and as it is printed. */

export interface ListenAddress {
  hostname: string;
  port: number;
}

/** `127.0.0.1:7420`, `[::1]:7420`, `localhost:0`. */
export function parseListenAddress(text: string): ListenAddress {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match?.[1] === undefined || port > 65_535) {
    throw new TypeError(
      `Cannot listen on "${text}": it is no address and port, such as 127.0.0.1:7420, [::1]:7420 or 0.0.0.0:7420`,
    );
  }
  return { hostname: match[1].replace(/^\[|\]$/g, ""), port };
}

/** `host:port` as in a URL. */
export function hostAndPort({ hostname, port }: ListenAddress): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

const LISTEN_FAULTS: Record<string, string> = {
  EADDRINUSE: "it is in use; stop what uses it, or give another port",
  EADDRNOTAVAIL: "this machine has no such address; 127.0.0.1 and 0.0.0.0 always do",
  EACCES: "this user may not; give a port from 1024 on",
  ENOTFOUND: "no such host is known; give an address such as 127.0.0.1",
};

/** The system's refusal of an address in words; other errors as they are. */
export function listenError(error: unknown, address: string): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const why = LISTEN_FAULTS[String(error.code)];
  return why === undefined
    ? error
    : new Error(`Cannot listen on "${address}": ${why} (${error.code})`, { cause: error });
}
