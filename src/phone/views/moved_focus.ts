/**
 * Keeps the focus on what moves to another place of a view, such as a session's card to another group, or a question
 * to the answered ones. Loaded after the list.
 */

/** Call this once. */
export function followMovedFocus(root: HTMLElement): void {
  let last: HTMLElement | undefined;
  let id: string | undefined;
  root.addEventListener("focusin", ({ target }) => {
    last = target instanceof HTMLElement ? target : undefined;
    // Noted at once: a removed element has no surroundings.
    id = last?.closest<HTMLElement>("[data-id]")?.dataset.id;
  });
  new MutationObserver(() => {
    if (last?.isConnected !== false || document.activeElement !== document.body) return;
    const href = last.getAttribute("href");
    last = undefined;
    const same = href === null ? undefined : find(`a[href="${CSS.escape(href)}"]`);
    const place = same ?? (id === undefined ? undefined : find(`[data-id="${CSS.escape(id)}"]`)) ??
      find("h1");
    if (place === undefined) return;
    // A heading or an item of a list can only be focused with a tabindex.
    if (place.tabIndex < 0 && !place.hasAttribute("tabindex")) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true });

  function find(selector: string): HTMLElement | undefined {
    return root.querySelector<HTMLElement>(selector) ?? undefined;
  }
}
