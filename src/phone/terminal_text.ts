/** A terminal's text for reading on a narrow screen: without frames, and with lines that may be broken anywhere. */

/** Lines from the end that are shown. */
const LINES_MAX = 1_000;
const RULE = /[─━═╌┄▔▁_-]{4,}/g;
const [LEFT_EDGE, RIGHT_EDGE] = [/^\s*[│┃║|] ?/, /\s*[│┃║|]\s*$/];
const FRAME = /^\s*[╭┌┏╔╰└┗╚├┣╠][─━═┄ ]*.*[╮┐┓╗╯┘┛╝┤┫╣]\s*$/;

/** Edges of boxes are left out, rules are short, and there is at most one blank line in a row. */
export function flowing(text: string): string {
  const lines = text.split("\n").slice(-LINES_MAX).map((line) => {
    const isFrame = FRAME.test(line);
    const inner = line.replace(LEFT_EDGE, "").replace(RIGHT_EDGE, "");
    const bare = isFrame ? inner.replace(/[╭┌┏╔╰└┗╚├┣╠╮┐┓╗╯┘┛╝┤┫╣]/g, "") : inner;
    return bare.replace(RULE, "───").replace(/ {3,}/g, "  ").trimEnd();
  });
  return lines.join("\n").replace(/\n{3,}/g, "\n\n");
}
