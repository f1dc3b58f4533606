/** Computes where a followed terminal scrolls to: its newest lines and cursor stay in view. Also checks for selections. */

/** Lines shown above a cursor that is far from the end. */
const LINES_ABOVE = 2;
/** Columns shown next to a cursor that was outside the view. */
const COLUMNS_BESIDE = 4;

/** Lines are counted from the start of the scrollback. */
export interface FollowedScreen {
  /** The screen's first line. */
  first: number;
  lines: number;
  /** The last nonblank line. */
  last: number;
  /** Undefined while it is hidden. */
  cursor: { line: number; column: number } | undefined;
}

/** In pixels. */
export interface FollowedView {
  width: number;
  height: number;
  lineHeight: number;
  columnWidth: number;
}

/** The scroll position that shows the last nonblank line, unless that would hide the cursor. */
export function followedTop(screen: FollowedScreen, { height, lineHeight }: FollowedView): number {
  const { first, lines, last, cursor } = screen;
  const end = (Math.max(last, cursor?.line ?? 0) + 1) * lineHeight - height;
  const beforeCursor = ((cursor?.line ?? Infinity) - LINES_ABOVE) * lineHeight;
  const wanted = Math.max(first * lineHeight, Math.min(end, beforeCursor));
  return Math.max(0, Math.min(lines * lineHeight - height, wanted));
}

/** The horizontal scroll position: unchanged while the cursor is visible. */
export function followedLeft(
  { left, column }: { left: number; column: number },
  { width, columnWidth }: FollowedView,
): number {
  const [start, end] = [column * columnWidth, (column + 1) * columnWidth];
  const beside = COLUMNS_BESIDE * columnWidth;
  if (start < left) return Math.max(0, start - beside);
  return end > left + width ? end - width + beside : left;
}

/** True if the user has selected text in the element. */
export function isSelectedIn(element: Element | null): boolean {
  const selection = document.getSelection();
  return element !== null && selection !== null && !selection.isCollapsed &&
    element.contains(selection.anchorNode);
}

export function endSelectionIn(element: Element): void {
  if (isSelectedIn(element)) document.getSelection()?.removeAllRanges();
}
