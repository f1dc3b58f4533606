/** The lines in which two texts differ, as a person reads them: `-` gone, `+` new, a blank for those around. */

/** Beyond so many pairs of lines the change is shown as a whole. */
const PAIRS_MAX = 4_000_000;
const AROUND = 2;

interface Line {
  sign: " " | "-" | "+";
  text: string;
}

/** No lines when the texts are the same. */
export function lineDiff(before: string, after: string): string[] {
  const [old, made] = [linesOf(before), linesOf(after)];
  const head = commonLength(old, made);
  const tail = commonLength(old.slice(head).reverse(), made.slice(head).reverse());
  const middle = align(old.slice(head, old.length - tail), made.slice(head, made.length - tail));
  const same = (lines: string[]): Line[] => lines.map((text) => ({ sign: " ", text }));
  const all = [...same(old.slice(0, head)), ...middle, ...same(old.slice(old.length - tail))];
  return all.filter((_, at) => isNearChange(all, at)).map(({ sign, text }) => `${sign} ${text}`);
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((line, at) => line !== other[at]);
  return end < 0 ? Math.min(one.length, other.length) : end;
}

function isNearChange(lines: readonly Line[], at: number): boolean {
  return lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ sign }) => sign !== " ");
}

/** By the longest common subsequence. */
function align(old: readonly string[], made: readonly string[]): Line[] {
  const gone = (text: string): Line => ({ sign: "-", text });
  const fresh = (text: string): Line => ({ sign: "+", text });
  if (old.length * made.length > PAIRS_MAX) return [...old.map(gone), ...made.map(fresh)];
  const lengths = commonLengths(old, made);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < made.length) {
    if (i < old.length && old[i] === made[j]) {
      lines.push({ sign: " ", text: old[i++] ?? "" });
      j++;
    } else if (
      j >= made.length || (i < old.length && lengthAt(lengths, i + 1, j) >= lengthAt(lengths, i, j + 1))
    ) {
      lines.push(gone(old[i++] ?? ""));
    } else lines.push(fresh(made[j++] ?? ""));
  }
  return lines;
}

/** `table[i][j]`: how many lines the rests from i and from j have in common. */
function commonLengths(old: readonly string[], made: readonly string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () => new Array<number>(made.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = made.length - 1; j >= 0; j--) {
      const row = table[i];
      if (row === undefined) continue;
      row[j] = old[i] === made[j]
        ? lengthAt(table, i + 1, j + 1) + 1
        : Math.max(lengthAt(table, i + 1, j), lengthAt(table, i, j + 1));
    }
  }
  return table;
}

function lengthAt(table: readonly (readonly number[])[], i: number, j: number): number {
  return table[i]?.[j] ?? 0;
}
