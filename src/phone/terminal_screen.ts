/** Draws the terminal's visible lines as elements and keeps the cursor in view. Loaded when a terminal is first shown. */
import type { IMarker } from "@xterm/headless";
import {
  type DrawnRow,
  elementOf,
  type Emulator,
  type EmulatorCell,
  linesWith,
  makeEmulator,
  plainText,
  runsOf,
  selectedText,
  wrappedColumns,
} from "./terminal_emulator.ts";
import {
  endSelectionIn,
  followedLeft,
  type FollowedScreen,
  followedTop,
  type FollowedView,
  isSelectedIn,
} from "./terminal_follow.ts";

/** Line height relative to the font size. */
const LINE_HEIGHT = 1.2;
/** Lines drawn above and below the visible ones. */
const SPARE_LINES = 4;
/** This close to the end counts as the end. */
const END_LINES = 1.5;
const FONT_MIN_PIXELS = 5;
const FONT_MAX_PIXELS = 28;
/** The smallest readable size; a terminal too wide for it is panned. */
const FONT_READABLE_PIXELS = 8;
const FONT_DEFAULT_PIXELS = 13;
/** If there is little height, as with an open keyboard in landscape, the font shrinks to show this many rows. */
const ROWS_MIN = 8;
const MEASURED_COLUMNS = 100;

interface TerminalScreenOptions {
  /** Scrolls; contains nothing else. */
  container: HTMLElement;
  /** The user has scrolled to the first line, or tries to scroll `pages` beyond it. */
  onTop(pages: number): void;
  /** Called when the user leaves the end or comes back, and when lines were added below meanwhile. */
  onAway(away: AwayFromEnd | undefined): void;
  /** Called after each drawing. */
  onDrawn(): void;
  /** Called when the container has another width, as after the phone was turned. */
  onWidth(): void;
}

/** The user has scrolled up. */
export interface AwayFromEnd {
  /** Lines added since then. */
  newer: number;
}

/** Pulling this far down at the first line requests earlier lines. */
const PULL_PIXELS = 40;
const PULL_PAGES = 0.5;

export class TerminalScreen {
  readonly terminal: Emulator;
  readonly #container: HTMLElement;
  readonly #options: TerminalScreenOptions;
  readonly #canvas = document.createElement("div");
  readonly #rows = new Map<number, DrawnRow>();
  readonly #observer: ResizeObserver;
  readonly #abort = new AbortController();
  /** Padding around the canvas, on each side. */
  readonly #padding: { x: number; y: number };
  #cell: EmulatorCell | undefined;
  #fontPixels = FONT_DEFAULT_PIXELS;
  #isSized = false;
  /** Column width relative to the font size. */
  #columnWidth = 0.6;
  #isCursorShown = true;
  #atEnd = true;
  /** Where the view was scrolled to follow the end. */
  #followedTo: number | undefined;
  /** The state drawn last; the emulator may be ahead of it. */
  #drawn: FollowedScreen = { first: 0, lines: 0, last: 0, cursor: undefined };
  /** The user is typing: the cursor's column is followed too, until the view is moved by hand. */
  #isTyping = false;
  #frame = 0;
  /** The number of lines before earlier ones were requested, and how many pages to scroll up into them. */
  #expected: { lines: number; pages: number } | undefined;
  /** The number of lines when the user scrolled up. */
  #leftAt: number | undefined;
  #reportedNewer = 0;
  /** The line at the top of the view, and its last number, which changes when the oldest lines are dropped. */
  #place: { marker: IMarker; line: number } | undefined;
  #found: number | undefined;
  /** The container's width, once it was observed. */
  #width: number | undefined;

  constructor(options: TerminalScreenOptions) {
    const { container } = options;
    this.#options = options;
    this.terminal = makeEmulator({ cols: 80, rows: 24 });
    this.#container = container;
    this.#canvas.className = "terminal-canvas";
    container.append(this.#canvas);
    const { paddingLeft, paddingTop } = getComputedStyle(container);
    this.#padding = { x: parseFloat(paddingLeft), y: parseFloat(paddingTop) };
    this.#columnWidth = this.#measure();
    this.#followCursor();
    const listening = { signal: this.#abort.signal, passive: true };
    container.addEventListener("scroll", () => this.#scrolled(), listening);
    // A selection may end outside.
    document.addEventListener("copy", (event) => this.#copy(event), { signal: this.#abort.signal });
    this.#followPull(listening);
    container.addEventListener("touchmove", () => void (this.#isTyping = false), listening);
    this.#observer = new ResizeObserver(() => this.#resized());
    this.#observer.observe(container);
  }

  get fontPixels(): number {
    return this.#fontPixels;
  }

  /** Sets the font size and keeps the center of the view in place. */
  zoom(pixels: number): void {
    const before = this.#fontPixels;
    this.#isSized = true;
    this.#setFont(pixels);
    const factor = this.#fontPixels / before;
    if (factor === 1) return;
    const container = this.#container;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = container;
    const [atEnd, middle] = [this.#atEnd, { x: clientWidth / 2, y: clientHeight / 2 }];
    this.#drawNow();
    container.scrollLeft = (scrollLeft + middle.x) * factor - middle.x;
    if (!atEnd) container.scrollTop = (scrollTop + middle.y) * factor - middle.y;
  }

  /** Goes back to the font size that fits the view. */
  resetZoom(): void {
    this.#isSized = false;
    this.draw();
  }

  followTyping(): void {
    this.#isTyping = true;
    this.#atEnd = true;
    endSelectionIn(this.#canvas);
  }

  /** How many columns and rows fit at the default font size. */
  room(): { cols: number; rows: number } {
    const { width, height } = this.#view();
    const cols = Math.floor(width / (FONT_DEFAULT_PIXELS * this.#columnWidth));
    return { cols, rows: Math.floor(height / (FONT_DEFAULT_PIXELS * LINE_HEIGHT)) };
  }

  /** Draws on the next animation frame. `isWhole`: the whole screen was sent, with all lines above it. */
  draw({ isWhole = false } = {}): void {
    if (isWhole) this.#forgetMissing();
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#drawNow());
  }

  /** Call this when earlier lines are requested: once they arrive, the view scrolls up by `pages` into them. */
  expectEarlier(pages: number): void {
    this.#expected = { lines: this.terminal.buffer.active.length, pages };
  }

  /** False if nothing is above. */
  scrollUp(pages: number): boolean {
    const before = this.#container.scrollTop;
    this.#container.scrollTop -= pages * this.#view().height;
    return this.#container.scrollTop !== before;
  }

  /** Scrolls to the newest lines. */
  showLatest(): void {
    this.#found = undefined;
    this.#atEnd = true;
    endSelectionIn(this.#canvas);
    this.draw();
  }

  /** The whole buffer as plain text. */
  text(): string {
    return plainText(this.terminal);
  }

  /** The numbers of the lines that contain the text, in order, ignoring case. */
  find(text: string): number[] {
    return linesWith(this.terminal, text);
  }

  /** Marks a line and shows it in the middle; undefined removes the mark. */
  showFound(y: number | undefined): void {
    this.#found = y;
    if (y !== undefined) {
      // Lines added since the last frame are not laid out yet, so scrolling would stop short of them.
      this.#drawNow();
      const { lineHeight, height } = this.#view();
      this.#atEnd = false;
      this.#container.scrollTop = Math.max(0, (y + 0.5) * lineHeight - height / 2);
      this.#scrolled();
    }
    this.draw();
  }

  dispose(): void {
    this.#abort.abort();
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
    this.terminal.dispose();
    this.#canvas.remove();
  }

  #drawNow(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    // Redrawing would replace the selected lines and so end the selection.
    if (isSelectedIn(this.#canvas)) return this.#reportHeld();
    if (!this.#isSized) this.#fitView();
    const { cols, buffer: { active } } = this.terminal;
    const view = this.#view();
    this.#canvas.style.height = `${active.length * view.lineHeight}px`;
    this.#canvas.style.width = `${cols * view.columnWidth}px`;
    this.#drawn = this.#followed();
    this.#keepPosition(view);
    this.#keepPlace(view);
    if (this.#atEnd) this.#follow(view);
    const first = Math.max(0, Math.floor(this.#container.scrollTop / view.lineHeight) - SPARE_LINES);
    const count = Math.ceil(this.#container.clientHeight / view.lineHeight) + 2 * SPARE_LINES;
    this.#drawLines(first, Math.min(active.length, first + count));
    this.#reportAway();
    this.#options.onDrawn();
  }

  /** A selection freezes the view, so it is reported like scrolling up. */
  #reportHeld(): void {
    this.#leftAt ??= this.#drawn.lines;
    this.#options.onAway({ newer: Math.max(0, this.#followed().lines - this.#leftAt) });
  }

  #reportAway(): void {
    const { lines } = this.#drawn;
    if (this.#atEnd) {
      if (this.#leftAt !== undefined) this.#options.onAway(undefined);
      this.#leftAt = undefined;
      return;
    }
    const newer = Math.max(0, lines - (this.#leftAt ?? lines));
    if (this.#leftAt !== undefined && newer === this.#reportedNewer) return;
    this.#leftAt ??= lines;
    this.#reportedNewer = newer;
    this.#options.onAway({ newer });
  }

  /** If everything fits, nothing scrolls: a pull or the wheel then requests earlier lines. */
  #followPull(listening: AddEventListenerOptions): void {
    const container = this.#container;
    let begun: number | undefined;
    const isAtTop = (): boolean => container.scrollTop <= 0 && this.terminal.buffer.active.type === "normal";
    container.addEventListener("touchstart", ({ touches }) => {
      begun = touches.length === 1 && isAtTop() ? touches[0]?.clientY : undefined;
    }, listening);
    container.addEventListener("touchmove", ({ touches }) => {
      if (begun === undefined || (touches[0]?.clientY ?? 0) - begun < PULL_PIXELS) return;
      begun = undefined;
      this.#options.onTop(PULL_PAGES);
    }, listening);
    container.addEventListener("wheel", ({ deltaY }) => {
      if (deltaY < 0 && isAtTop()) this.#options.onTop(PULL_PAGES);
    }, listening);
    document.addEventListener("selectionchange", () => this.draw(), listening);
  }

  #follow(view: FollowedView): void {
    this.#container.scrollTop = followedTop(this.#drawn, view);
    this.#followedTo = this.#container.scrollTop;
    if (!this.#isTyping || this.#drawn.cursor === undefined) return;
    const { column } = this.#drawn.cursor;
    this.#container.scrollLeft = followedLeft({ left: this.#container.scrollLeft, column }, view);
  }

  #followed(): FollowedScreen {
    const { active } = this.terminal.buffer;
    const { length: lines, baseY: first, cursorX: column } = active;
    let last = lines - 1;
    while (last > first && active.getLine(last)?.translateToString().trim() === "") last--;
    const cursor = this.#isCursorShown ? { line: first + active.cursorY, column } : undefined;
    return { first, lines, last, cursor };
  }

  #view(): FollowedView {
    const { clientWidth, clientHeight } = this.#container;
    return {
      width: clientWidth - 2 * this.#padding.x,
      height: clientHeight - 2 * this.#padding.y,
      lineHeight: this.#fontPixels * LINE_HEIGHT,
      columnWidth: this.#fontPixels * this.#columnWidth,
    };
  }

  #scrolled(): void {
    const view = this.#view();
    const { scrollTop } = this.#container;
    // Reported late, when lines were added or the height has changed since: nobody has scrolled.
    if (this.#atEnd && scrollTop === this.#followedTo) return this.draw();
    this.#atEnd = scrollTop > followedTop(this.#drawn, view) - view.lineHeight * END_LINES;
    if (!this.#atEnd && scrollTop <= 0 && this.terminal.buffer.active.type === "normal") {
      this.#options.onTop(0);
    }
    this.draw();
  }

  /** If there are no earlier lines than those that are here, lines that are added from now on are newer. */
  #forgetMissing(): void {
    if (this.#expected === undefined) return;
    const { lines, pages } = this.#expected;
    if (this.terminal.buffer.active.length > lines) return;
    this.#expected = undefined;
    if (pages > 0) this.#atEnd &&= !this.scrollUp(pages);
  }

  /** When earlier lines arrive, keeps the visible ones in place, or scrolls up by the requested pages. */
  #keepPosition({ lineHeight, height }: FollowedView): void {
    const { lines = Infinity, pages = 0 } = this.#expected ?? {};
    const added = this.#drawn.lines - lines;
    if (added <= 0) return;
    this.#expected = undefined;
    if (this.#leftAt !== undefined) this.#leftAt += added;
    this.#atEnd &&= pages === 0;
    if (!this.#atEnd) this.#container.scrollTop += added * lineHeight - pages * height;
  }

  /** Once the buffer is full, each new line moves all others up by one: scrolls along with them. */
  #keepPlace({ lineHeight }: FollowedView): void {
    const { marker, line = 0 } = this.#place ?? {};
    const moved = marker === undefined || marker.isDisposed ? 0 : marker.line - line;
    if (this.#found !== undefined) this.#found += moved;
    if (this.#leftAt !== undefined) this.#leftAt += moved;
    if (moved !== 0 && !this.#atEnd) this.#container.scrollTop += moved * lineHeight;
    marker?.dispose();
    const { baseY, cursorY } = this.terminal.buffer.active;
    const top = Math.floor(this.#container.scrollTop / lineHeight);
    const next = this.#atEnd ? undefined : this.terminal.registerMarker(top - baseY - cursorY);
    this.#place = next && { marker: next, line: next.line };
  }

  #drawLines(first: number, end: number): void {
    for (const [y, { element }] of this.#rows) {
      if (y >= first && y < end) continue;
      element.remove();
      this.#rows.delete(y);
    }
    for (let y = first; y < end; y++) this.#drawLine(y);
  }

  #drawLine(y: number): void {
    const { cols, buffer: { active } } = this.terminal;
    const line = active.getLine(y);
    if (line === undefined) return;
    const cursor = this.#isCursorShown && y === active.baseY + active.cursorY ? active.cursorX : undefined;
    this.#cell ??= active.getNullCell();
    const at = cursor === undefined ? undefined : Math.min(cursor, cols - 1);
    const runs = runsOf(line, { columns: cols, cursor: at, cell: this.#cell });
    const drawn = JSON.stringify(runs);
    const row = this.#rows.get(y) ?? this.#newRow(y);
    row.element.classList.toggle("found", y === this.#found);
    const wrapped = wrappedColumns(active, y);
    row.wrap = wrapped === undefined ? "none" : wrapped < line.length ? "short" : "whole";
    if (row.drawn === drawn) return;
    row.drawn = drawn;
    row.element.replaceChildren(...runs.map(elementOf));
  }

  /** A row's place among the elements is the one on the screen: a selection goes by their order. */
  #newRow(y: number): DrawnRow {
    const element = document.createElement("div");
    element.className = "terminal-line";
    element.style.top = `${y * LINE_HEIGHT}em`;
    const below = [...this.#rows].filter(([at]) => at > y).sort(([one], [other]) => one - other)[0];
    this.#canvas.insertBefore(element, below?.[1].element ?? null);
    const row: DrawnRow = { element, drawn: "", wrap: "none" };
    this.#rows.set(y, row);
    return row;
  }

  #copy(event: ClipboardEvent): void {
    if (!isSelectedIn(this.#canvas)) return;
    const rows = [...this.#rows].sort(([one], [other]) => one - other).map(([_y, row]) => row);
    event.clipboardData?.setData("text/plain", selectedText(rows));
    event.preventDefault();
  }

  #resized(): void {
    const { clientWidth } = this.#container;
    const isTurned = this.#width !== undefined && clientWidth !== this.#width;
    this.#width = clientWidth;
    if (isTurned) this.#options.onWidth();
    if (!this.#isSized) this.#fitView();
    this.draw();
  }

  /** The largest font size at which every column and a few rows are visible, but at least the readable size. */
  #fitView(): void {
    const { width, height } = this.#view();
    const fitting = Math.min(
      width / (this.terminal.cols * this.#columnWidth),
      height / (ROWS_MIN * LINE_HEIGHT),
    );
    this.#setFont(Math.max(FONT_READABLE_PIXELS, Math.min(FONT_DEFAULT_PIXELS, fitting)));
  }

  #setFont(pixels: number): void {
    this.#fontPixels = Math.max(FONT_MIN_PIXELS, Math.min(FONT_MAX_PIXELS, pixels));
    this.#canvas.style.fontSize = `${this.#fontPixels}px`;
  }

  #measure(): number {
    const probe = document.createElement("span");
    probe.className = "terminal-line";
    probe.textContent = "0".repeat(MEASURED_COLUMNS);
    this.#canvas.style.fontSize = "10px";
    this.#canvas.append(probe);
    const { width } = probe.getBoundingClientRect();
    probe.remove();
    return width > 0 ? width / MEASURED_COLUMNS / 10 : 0.6;
  }

  /** Watches escape sequences, because the emulator does not expose whether the cursor is visible. */
  #followCursor(): void {
    const { parser } = this.terminal;
    const follow = (shown: boolean) => (params: (number | number[])[]): boolean => {
      if (params.includes(25)) this.#isCursorShown = shown;
      return false;
    };
    parser.registerCsiHandler({ prefix: "?", final: "h" }, follow(true));
    parser.registerCsiHandler({ prefix: "?", final: "l" }, follow(false));
    parser.registerEscHandler({ final: "c" }, () => {
      this.#isCursorShown = true;
      return false;
    });
  }
}
