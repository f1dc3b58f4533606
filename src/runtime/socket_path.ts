/** The rule for paths of unix-domain sockets. */

/** The longest path in bytes that every system takes (macOS: 104 with its NUL; Linux: 108). */
export const maxSocketPathBytes = 103;

/** The mode of a socket only its owner may use, and the umask that creates it so. */
export const socketMode = 0o600;
export const socketUmask = 0o177;

/** @throws when the path is too long: the system would cut it or refuse it with a bare EINVAL. */
export function checkSocketPath(path: string): void {
  const bytes = new TextEncoder().encode(path).length;
  if (bytes <= maxSocketPathBytes) return;
  throw new Error(
    `cannot use the socket path "${path}": it has ${bytes} bytes, the system takes at most ${maxSocketPathBytes}; ` +
      `choose a shorter SVC_HOME`,
  );
}
