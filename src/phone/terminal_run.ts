/** A run of cells that look alike, as an element. */
import type { Run } from "./terminal_emulator.ts";

/** Sets styles through the DOM, which the page's content security policy allows. */
export function elementOf({ text, columns, uneven, style: cellStyle, cursor }: Run): HTMLElement {
  const element = document.createElement("span");
  element.textContent = text;
  const { style, classList } = element;
  if (cellStyle.foreground !== undefined) style.color = cellStyle.foreground;
  if (cellStyle.background !== undefined) style.backgroundColor = cellStyle.background;
  const lines = [
    cellStyle.underline && "underline",
    cellStyle.overline && "overline",
    cellStyle.strike && "line-through",
  ];
  const decoration = lines.filter((line) => line !== false).join(" ");
  if (decoration !== "") style.textDecoration = decoration;
  if (cellStyle.bold) classList.add("bold");
  if (cellStyle.dim) classList.add("dim");
  if (cellStyle.italic) classList.add("italic");
  if (cellStyle.hidden) classList.add("hidden");
  if (cursor) classList.add("cursor");
  if (uneven) {
    classList.add("uneven");
    style.width = `${columns}ch`;
  }
  return element;
}
