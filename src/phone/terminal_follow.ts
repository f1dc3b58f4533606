/** Where a terminal's view has to stand so that what matters is in sight: the last line that says something, and the cursor. */

/** Lines shown above a cursor that stands far above the end. */
const LINES_ABOVE = 2;
/** Columns shown beside a cursor that left the view. */
const COLUMNS_BESIDE = 4;

/** Lines count from the first of the scrollback. */
export interface FollowedScreen {
  /** The screen's first line. */
  first: number;
  lines: number;
  /** The last line with anything on it. */
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

/** A screen that is mostly empty is not followed into its blank lines; what is below the cursor gives way to it. */
export function followedTop(screen: FollowedScreen, { height, lineHeight }: FollowedView): number {
  const { first, lines, last, cursor } = screen;
  const end = (Math.max(last, cursor?.line ?? 0) + 1) * lineHeight - height;
  const beforeCursor = ((cursor?.line ?? Infinity) - LINES_ABOVE) * lineHeight;
  const wanted = Math.max(first * lineHeight, Math.min(end, beforeCursor));
  return Math.max(0, Math.min(lines * lineHeight - height, wanted));
}

/** Stays where it is while the cursor is in sight. */
export function followedLeft(
  { left, column }: { left: number; column: number },
  { width, columnWidth }: FollowedView,
): number {
  const [start, end] = [column * columnWidth, (column + 1) * columnWidth];
  const beside = COLUMNS_BESIDE * columnWidth;
  if (start < left) return Math.max(0, start - beside);
  return end > left + width ? end - width + beside : left;
}
