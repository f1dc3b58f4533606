/** Two fingers change the size of the letters; one finger is the browser's own, which scrolls and pans. */

export interface PinchTarget {
  readonly fontPixels: number;
  zoom(pixels: number): void;
}

/** Follows until the signal fires. */
export function followPinch(
  place: HTMLElement,
  { target, signal }: { target: PinchTarget; signal: AbortSignal },
): void {
  let begun: { distance: number; fontPixels: number } | undefined;
  const start = (event: TouchEvent): void => {
    const distance = distanceOf(event.touches);
    begun = distance === undefined ? undefined : { distance, fontPixels: target.fontPixels };
  };
  const move = (event: TouchEvent): void => {
    const distance = distanceOf(event.touches);
    if (begun === undefined || distance === undefined) return;
    event.preventDefault();
    target.zoom(zoomed(begun, distance));
  };
  place.addEventListener("touchstart", start, { signal, passive: true });
  place.addEventListener("touchend", start, { signal, passive: true });
  place.addEventListener("touchmove", move, { signal, passive: false });
}

/** The size that the fingers ask for, in half pixels: between them nothing would move visibly. */
export function zoomed(begun: { distance: number; fontPixels: number }, distance: number): number {
  return Math.round(begun.fontPixels * distance / begun.distance * 2) / 2;
}

function distanceOf(touches: TouchList): number | undefined {
  const [one, other] = [touches[0], touches[1]];
  if (one === undefined || other === undefined) return undefined;
  return Math.max(1, Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY));
}
