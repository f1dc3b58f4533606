/** Keeps the page as high as what the on-screen keyboard leaves visible: iOS lays the keyboard over the page. */

export function followVisibleHeight(window: Window): void {
  const viewport = window.visualViewport;
  if (viewport === null) return;
  const apply = (): void => {
    const covered = window.innerHeight - viewport.height;
    const { style } = window.document.documentElement;
    if (covered > 1 && viewport.scale === 1) {
      style.setProperty("--visible-height", `${viewport.height}px`);
      style.setProperty("--bottom", "0px");
    } else for (const name of ["--visible-height", "--bottom"]) style.removeProperty(name);
    if (covered > 1) window.scrollTo(0, 0);
  };
  viewport.addEventListener("resize", apply);
}
