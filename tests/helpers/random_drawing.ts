/** Random terminal output of every kind, the same for the same seed. */

export interface DrawnPart {
  part: string;
  /** Whether the link is cut after it. */
  cuts: boolean;
}

const CHARACTERS = [..."abcdefgh XYZé─ü●漢字👍"];
const ATTRIBUTES = [
  ...["0", "0", "1", "2", "3", "4", "4:3", "5", "7", "8", "9", "21", "22", "23", "24", "27", "28", "29"],
  ...["31", "32;44", "38;5;200", "48;5;22", "38;2;1;2;3", "48:2::9:8:7", "39", "49", "53", "55", "97", "101"],
];

/** Terminals interpret these differently. */
export const ODD_ATTRIBUTES = ["4:9", "31:1", "38;5", "38;5;300", "38;2;1", "48;2;300;1;1", "38;3;1"];
/** tmux ignores these; other terminals do not. */
export const IGNORED = [
  ...["\u001b[20h", "\u001b[4;20l", "\u001b(A", "\u001b(K", "\u001b)A", "\u001b*0\u001bn", "\u001bo"],
  ...[
    "\u001b[5a",
    "\u001b[3e",
    "\u001b[2I",
    "\u001b[2 @",
    "\u001b[2 A",
    "\u001b[!p",
    "\u001b[?2J",
    "\u001b[2:3D",
  ],
  ...[
    "\u001b[99999999999C",
    "\u001b[5;99999999999H",
    `\u001b[${"0;".repeat(30)}31m`,
    `\u001b[${"0".repeat(70)}5C`,
  ],
  ...["\u001bPtmux;\u001b\u001b[2J\u001b\u001b[HEVIL\u001b\\", "\u001bPabc\u0018DEF\u001b\\"],
  ...["\u001bP$q m\u001b[31mB\u001b\\", "\u001bP1:1qxx\u0018", "\u001bP1;2\u001b[2D"],
];

/** Yields everything except origin mode, in which the cursor can be where no sequence can put it. */
export function* makeDrawing(seed: number, parts: number): Generator<DrawnPart> {
  let state = seed;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const csi = (final: string, most: number): string => `\u001b[${1 + random(most)}${final}`;
  const kinds: (() => string)[] = [
    () => Array.from({ length: 1 + random(30) }, () => pick(CHARACTERS)).join(""),
    () => `\u001b[${pick(ATTRIBUTES)}m`,
    () => `\u001b[${1 + random(32)};${1 + random(104)}H`,
    () => pick(["\r\n", "\n", "\r", "\b", "\t"]),
    () => `\u001b[${random(3)}${pick(["J", "K"])}`,
    () => csi(pick(["X", "@", "P"]), 9),
    () => csi(pick(["L\r", "M\r", "L", "M", "S", "T"]), 3),
    () => csi(pick(["A", "B", "C", "D", "E", "F", "G", "d"]), 20),
    () => `\u001b${pick(["M", "D", "E", "7", "8", "H", "=", ">"])}`,
    () => `\u001b[${1 + random(10)};${12 + random(18)}r`,
    () =>
      pick(["\u001b[r", "\u001b[4h", "\u001b[4l", "\u001b[?7l", "\u001b[?7h", "\u001b[?1h", "\u001b[?1l"]),
    () =>
      pick([
        "\u001b[?1049h",
        "\u001b[?1049l",
        "\u001b[?25l",
        "\u001b[?25h",
        "\u001b[?1002h",
        "\u001b[?1002l",
        "\u001b[?25;7l",
        "\u001b[?7;25h",
      ]),
    () =>
      pick([
        "\u001b(0lqqk\u001b(B",
        "\u001b)0\u000emqqj\u000f",
        "x\u001b[3b",
        "\u001b]0;title\u0007",
        "\u001bkname\u001b\\",
      ]),
    () => pick(IGNORED),
    () => `\u001b[${pick(ODD_ATTRIBUTES)}mab\u001b[0m`,
  ];
  yield { part: "\u001bc", cuts: false };
  for (let at = 0; at < parts; at++) yield { part: pick(kinds)(), cuts: random(12) === 0 };
}
