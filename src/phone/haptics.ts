/** A short buzz under the finger, where the browser can and the user wants motion. */

const TICK_MS = 8;

export function buzz(): void {
  const vibrate: Navigator["vibrate"] | undefined = navigator.vibrate?.bind(navigator);
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) vibrate?.(TICK_MS);
}
