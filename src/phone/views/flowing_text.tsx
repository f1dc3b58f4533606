/** The terminal's output as text whose lines are as long as the phone is wide, beside the exact screen. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { SESSION_TEXT } from "../session_text.ts";
import type { Terminal } from "./use_terminal.ts";

/** Shown again at most this often. */
const REFRESH_MS = 250;
/** This close to the end counts as the end. */
const END_PIXELS = 24;

export function FlowingText({ terminal }: { terminal: Terminal }): JSX.Element {
  const place = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  const [text, setText] = useState(() => flowing(terminal.text()));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = (): void => {
      timer = undefined;
      setText(flowing(terminal.text()));
    };
    update();
    const stop = terminal.onDrawn(() => void (timer ??= setTimeout(update, REFRESH_MS)));
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [terminal.info.stream.kind]);
  useEffect(() => {
    const element = place.current;
    if (element !== null && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [text]);
  const isAway = terminal.info.away !== undefined;
  useEffect(() => {
    if (!isAway) place.current?.scrollTo(0, place.current.scrollHeight);
  }, [isAway]);
  const scrolled = ({ currentTarget }: { currentTarget: Element }): void => {
    const { scrollTop, scrollHeight, clientHeight } = currentTarget;
    atEnd.current = scrollTop + clientHeight > scrollHeight - END_PIXELS;
    if (atEnd.current === isAway) terminal.setAway(atEnd.current ? undefined : { newer: 0 });
  };
  return (
    <pre
      class="flowing-text"
      ref={place}
      tabIndex={0}
      aria-label={SESSION_TEXT.terminal.text}
      role="region"
      onScroll={scrolled}
    >
      {text}
    </pre>
  );
}

/** Lines from the end that are shown. */
const LINES_MAX = 1_000;
const RULE = /[─━═╌┄▔▁_-]{4,}/g;
const [LEFT_EDGE, RIGHT_EDGE] = [/^\s*[│┃║|] ?/, /[│┃║|]$/];
const FRAME = /^\s*[╭┌┏╔╰└┗╚├┣╠].*[╮┐┓╗╯┘┛╝┤┫╣]$/;

/** A terminal's text for a narrow screen: edges of boxes are left out, rules are short, and there is at most one blank line in a row. */
export function flowing(text: string): string {
  const lines = text.split("\n").slice(-LINES_MAX).map((untrimmed) => {
    const line = untrimmed.trimEnd();
    const isFrame = FRAME.test(line);
    const inner = line.replace(LEFT_EDGE, "").replace(RIGHT_EDGE, "");
    const bare = isFrame ? inner.replace(/[╭┌┏╔╰└┗╚├┣╠╮┐┓╗╯┘┛╝┤┫╣]/g, "") : inner;
    return bare.replace(RULE, "───").replace(/ {3,}/g, "  ").trimEnd();
  });
  return lines.join("\n").replace(/\n{3,}/g, "\n\n");
}
