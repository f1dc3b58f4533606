/** The limits and modes of unix-domain sockets. */

/** The longest path in bytes that every system takes (macOS: 104 with its NUL; Linux: 108). */
export const MAX_SOCKET_PATH_BYTES = 103;

/** Only the owner may use a socket; the umask creates it with this mode. */
export const SOCKET_MODE = 0o600;
export const SOCKET_UMASK = 0o177;

/** @throws when the path is too long: the system would cut it or refuse it with a bare EINVAL. */
export function checkSocketPath(path: string): void {
  const bytes = new TextEncoder().encode(path).length;
  if (bytes <= MAX_SOCKET_PATH_BYTES) return;
  throw new Error(
    `cannot use the socket path "${path}": it has ${bytes} bytes, the system takes at most ${MAX_SOCKET_PATH_BYTES}; ` +
      `choose a shorter SVC_HOME`,
  );
}
