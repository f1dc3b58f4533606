/** Keeps the page as high as what the on-screen keyboard leaves visible: iOS lays the keyboard over the page. */

export function followVisibleHeight(window: Window): void {
  const viewport = window.visualViewport;
  if (viewport === null) return;
  const apply = (): void => {
    const covered = window.innerHeight - viewport.height;
    const root = window.document.documentElement;
    if (covered > 1 && viewport.scale === 1) {
      root.style.setProperty("--visible-height", `${viewport.height}px`);
    } else root.style.removeProperty("--visible-height");
    if (covered > 1) window.scrollTo(0, 0);
  };
  viewport.addEventListener("resize", apply);
}
