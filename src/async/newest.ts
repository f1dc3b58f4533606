/** Maps that keep their newest entries only. */

/** Sets the entry as the newest one, and removes the oldest ones beyond `max`. */
export function setNewest<K, V>(
  map: Map<K, V>,
  [key, value]: readonly [K, V],
  { max }: { max: number },
): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}
