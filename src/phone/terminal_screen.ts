/** The terminal on the page: the emulator's cells as elements, only those in sight. Loaded when a terminal is first shown. */
import { type Emulator, type EmulatorCell, makeEmulator } from "./terminal_emulator.ts";
import { followedLeft, type FollowedScreen, followedTop, type FollowedView } from "./terminal_follow.ts";
import { type Run, runsOf } from "./terminal_runs.ts";

/** Height of a line by the size of its letters. */
const LINE_HEIGHT = 1.2;
/** Lines drawn above and below those in sight. */
const SPARE_LINES = 4;
/** So near to the end counts as the end. */
const END_LINES = 1.5;
export const FONT_LEAST_PIXELS = 5;
export const FONT_MOST_PIXELS = 28;
/** Letters of this size can be read; a terminal that is too wide for them is panned. */
const FONT_READABLE_PIXELS = 8;
const FONT_USUAL_PIXELS = 13;
const MEASURED_COLUMNS = 100;

export interface TerminalScreenOptions {
  /** Scrolls; holds nothing else. */
  place: HTMLElement;
  /** The reader has come to the first line there is. */
  onTop(): void;
}

export class TerminalScreen {
  readonly terminal: Emulator;
  readonly #place: HTMLElement;
  readonly #canvas = document.createElement("div");
  readonly #rows = new Map<number, { element: HTMLElement; drawn: string }>();
  readonly #observer: ResizeObserver;
  readonly #abort = new AbortController();
  /** Space around the canvas, on each side. */
  readonly #padding: { x: number; y: number };
  #cell: EmulatorCell | undefined;
  #fontPixels = FONT_USUAL_PIXELS;
  #isSized = false;
  /** Width of a column by the size of its letters. */
  #columnWidth = 0.6;
  #isCursorShown = true;
  #atEnd = true;
  /** As it was drawn last; the emulator may be further by now. */
  #drawn: FollowedScreen = { first: 0, lines: 0, last: 0, cursor: undefined };
  /** The person types: the cursor's column is followed too, until the view is moved by hand. */
  #isTypedInto = false;
  #frame = 0;
  /** Lines there were before more were asked for above them, and how far to go up into these. */
  #expected: { lines: number; pages: number } | undefined;

  constructor({ place, onTop }: TerminalScreenOptions) {
    this.terminal = makeEmulator({ cols: 80, rows: 24 });
    this.#place = place;
    this.#canvas.className = "terminal-canvas";
    place.append(this.#canvas);
    const { paddingLeft, paddingTop } = getComputedStyle(place);
    this.#padding = { x: parseFloat(paddingLeft), y: parseFloat(paddingTop) };
    this.#columnWidth = this.#measure();
    this.#followCursor();
    const listening = { signal: this.#abort.signal, passive: true };
    place.addEventListener("scroll", () => this.#scrolled(onTop), listening);
    place.addEventListener("touchmove", () => void (this.#isTypedInto = false), listening);
    this.#observer = new ResizeObserver(() => this.#resized());
    this.#observer.observe(place);
  }

  get fontPixels(): number {
    return this.#fontPixels;
  }

  /** Letters of this size from here on; what is in the middle stays there. */
  zoom(pixels: number): void {
    const before = this.#fontPixels;
    this.#isSized = true;
    this.#setFont(pixels);
    const grown = this.#fontPixels / before;
    if (grown === 1) return;
    const place = this.#place;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = place;
    const [atEnd, middle] = [this.#atEnd, { x: clientWidth / 2, y: clientHeight / 2 }];
    this.#drawNow();
    place.scrollLeft = (scrollLeft + middle.x) * grown - middle.x;
    if (!atEnd) place.scrollTop = (scrollTop + middle.y) * grown - middle.y;
  }

  /** Letters of the size that suits the place. */
  unzoom(): void {
    this.#isSized = false;
    this.draw();
  }

  typedInto(): void {
    this.#isTypedInto = true;
    this.#atEnd = true;
  }

  /** How many columns and rows of usual letters there is room for. */
  room(): { cols: number; rows: number } {
    const { width, height } = this.#view();
    const cols = Math.floor(width / (FONT_USUAL_PIXELS * this.#columnWidth));
    return { cols, rows: Math.floor(height / (FONT_USUAL_PIXELS * LINE_HEIGHT)) };
  }

  /** At the next frame of the browser. */
  draw(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#drawNow());
  }

  /** Lines are about to come in above, if there are any. */
  expectAbove(pages: number): void {
    this.#expected = { lines: this.terminal.buffer.active.length, pages };
  }

  up(pages: number): void {
    this.#place.scrollTop -= pages * this.#view().height;
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
    if (!this.#isSized) this.#fitWidth();
    const { cols, buffer: { active } } = this.terminal;
    const view = this.#view();
    this.#canvas.style.height = `${active.length * view.lineHeight}px`;
    this.#canvas.style.width = `${cols * view.columnWidth}px`;
    this.#drawn = this.#followed();
    this.#keepPlace(view);
    if (this.#atEnd) this.#follow(view);
    const first = Math.max(0, Math.floor(this.#place.scrollTop / view.lineHeight) - SPARE_LINES);
    const count = Math.ceil(this.#place.clientHeight / view.lineHeight) + 2 * SPARE_LINES;
    this.#drawLines(first, Math.min(active.length, first + count));
  }

  #follow(view: FollowedView): void {
    this.#place.scrollTop = followedTop(this.#drawn, view);
    if (!this.#isTypedInto || this.#drawn.cursor === undefined) return;
    const { column } = this.#drawn.cursor;
    this.#place.scrollLeft = followedLeft({ left: this.#place.scrollLeft, column }, view);
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
    const { clientWidth, clientHeight } = this.#place;
    return {
      width: clientWidth - 2 * this.#padding.x,
      height: clientHeight - 2 * this.#padding.y,
      lineHeight: this.#fontPixels * LINE_HEIGHT,
      columnWidth: this.#fontPixels * this.#columnWidth,
    };
  }

  #scrolled(onTop: () => void): void {
    const view = this.#view();
    const { scrollTop } = this.#place;
    this.#atEnd = scrollTop > followedTop(this.#drawn, view) - view.lineHeight * END_LINES;
    if (!this.#atEnd && scrollTop <= 0 && this.terminal.buffer.active.type === "normal") onTop();
    this.draw();
  }

  /** What is being read stays where it is; who asked to see what is above sees the page before it. */
  #keepPlace({ lineHeight, height }: FollowedView): void {
    const { lines = Infinity, pages = 0 } = this.#expected ?? {};
    const added = this.#drawn.lines - lines;
    if (added <= 0) return;
    this.#expected = undefined;
    this.#atEnd &&= pages === 0;
    if (!this.#atEnd) this.#place.scrollTop += added * lineHeight - pages * height;
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
    if (row.drawn === drawn) return;
    row.drawn = drawn;
    row.element.replaceChildren(...runs.map(elementOf));
  }

  #newRow(y: number): { element: HTMLElement; drawn: string } {
    const element = document.createElement("div");
    element.className = "terminal-line";
    element.style.top = `${y * LINE_HEIGHT}em`;
    this.#canvas.append(element);
    const row = { element, drawn: "" };
    this.#rows.set(y, row);
    return row;
  }

  #resized(): void {
    if (!this.#isSized) this.#fitWidth();
    this.draw();
  }

  /** Letters as large as let every column be seen, while they can be read. */
  #fitWidth(): void {
    const fitting = this.#view().width / (this.terminal.cols * this.#columnWidth);
    this.#setFont(Math.max(FONT_READABLE_PIXELS, Math.min(FONT_USUAL_PIXELS, fitting)));
  }

  #setFont(pixels: number): void {
    this.#fontPixels = Math.max(FONT_LEAST_PIXELS, Math.min(FONT_MOST_PIXELS, pixels));
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

  /** The emulator does not tell whether the cursor is shown: its sequences do. */
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

/** Styles go in by the object model, which the page's policy allows, never as text. */
function elementOf({ text, columns, uneven, look, cursor }: Run): HTMLElement {
  const element = document.createElement("span");
  element.textContent = text;
  const { style, classList } = element;
  if (look.foreground !== undefined) style.color = look.foreground;
  if (look.background !== undefined) style.backgroundColor = look.background;
  const lines = [look.underline && "underline", look.overline && "overline", look.strike && "line-through"];
  const decoration = lines.filter((line) => line !== false).join(" ");
  if (decoration !== "") style.textDecoration = decoration;
  if (look.bold) classList.add("bold");
  if (look.dim) classList.add("dim");
  if (look.italic) classList.add("italic");
  if (look.hidden) classList.add("hidden");
  if (cursor) classList.add("cursor");
  if (uneven) {
    classList.add("uneven");
    style.width = `${columns}ch`;
  }
  return element;
}
