/** Shown in place of the page when the browser refuses to open its storage: without it the page cannot start. */
import type { Strings } from "./strings.ts";

export const NO_STORAGE_STRINGS = {
  text:
    "This browser keeps nothing for this site. Allow site data, or leave private mode, and reload the page.",
  reload: "Reload",
};

export function showNoStorage({ app, noStorage = NO_STORAGE_STRINGS }: Strings): void {
  const { text, reload } = noStorage;
  const heading = element("h1", { textContent: app.title });
  const reason = element("p", { textContent: text });
  const button = element("button", {
    className: "secondary",
    textContent: reload,
    onclick: () => location.reload(),
  });
  const page = element("main", { className: "first-load" });
  page.append(heading, reason, button);
  // Otherwise the text of a `first-load` element appears late.
  page.style.animation = "none";
  document.getElementById("app")?.replaceChildren(page);
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}
