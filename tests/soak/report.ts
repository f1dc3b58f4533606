/** A soak's report: one line per figure, and a verdict. */
import { leftovers, total } from "./leftovers.ts";
import type { MemoryLine } from "./observed.ts";
import { type Slope, slopeOf } from "./slope.ts";
import type { Soak } from "./soak.ts";

/** KiB of growth allowed per 1,000 messages and questions, and in total: growth certainly beyond both is a leak. */
const GROWTH_MAX_KB = {
  heapKb: { per1000: 512, inAll: 2_048 },
  buffersKb: { per1000: 512, inAll: 2_048 },
  rssKb: { per1000: 4_096, inAll: 32_768 },
} as const;
type Memory = keyof typeof GROWTH_MAX_KB;

const KINDS = ["heapKb", "buffersKb", "rssKb"] as const satisfies readonly Memory[];
const SHOWN: Record<Memory, string> = {
  heapKb: "heap",
  buffersKb: "memory beside the heap",
  rssKb: "resident memory",
};
const HOUR_SECONDS = 3_600;

export interface Report {
  lines: string[];
  /** Why the soak failed, one reason per line; empty when it passed. */
  faults: string[];
}

export function reportOf(soak: Soak): Report {
  const { counts: { messages, asks }, seconds, cuts, sizes } = soak;
  const perSecond = (messages.sent + asks.sent) / seconds;
  const memory = Object.entries(soak.memory).flatMap(([name, lines]) =>
    KINDS.map((kind) => memoryRow(name, { lines, kind, perSecond }))
  );
  const { before, after } = soak;
  const left = leftovers(before, after);
  const open = Object.entries(before.descriptors)
    .map(([name, count]) => `${name} ${count} → ${after.descriptors[name]}`).join(", ");
  const bad = messages.lost + messages.duplicated + messages.outOfOrder + asks.lost + asks.duplicated;
  const unexpected = messages.refused + messages.unknown;
  return {
    lines: [
      `soak: ${(seconds / 60).toFixed(1)} minutes, the link cut ${cuts} times, all connections back within ${
        (soak.backMs / 1_000).toFixed(1)
      } s`,
      `soak messages: ${messages.sent} sent, ${messages.submitted} submitted, ${messages.refused} refused, ${messages.unknown} unknown, ${messages.lost} lost, ${messages.duplicated} duplicated, ${messages.outOfOrder} out of order`,
      `soak questions: ${asks.sent} asked, ${asks.answered} answered, ${asks.late} typed late, ${asks.refused} refused late, ${asks.lost} lost, ${asks.duplicated} duplicated`,
      ...memory.map(({ line }) => line),
      `soak open files: ${open}`,
      `soak processes: ${total(before.processes)} → ${total(after.processes)}`,
      `soak files: ${total(before.files)} → ${total(after.files)}`,
      `soak tmux clients: ${before.tmuxClients} → ${after.tmuxClients}`,
      `soak sizes: ${
        Object.entries(sizes).map(([name, bytes]) => `${name} ${kb(bytes / 1_024)}`).join(", ")
      }`,
      `soak left over: ${left.length === 0 ? "nothing" : left.join("; ")}`,
      ...asks.lostTexts.map((text) => `soak lost: ${text}`),
    ],
    faults: [
      ...(bad > 0 ? ["something was lost, duplicated or out of order"] : []),
      ...(unexpected > 0 ? [`${unexpected} messages were refused or unknown`] : []),
      ...left.map((what) => `left over: ${what}`),
      ...memory.flatMap(({ fault }) => fault ?? []),
    ],
  };
}

interface MemoryOptions {
  lines: readonly MemoryLine[];
  kind: Memory;
  /** Messages and questions. */
  perSecond: number;
}

/** Uses the slope of the second half, because in the first half caches fill and code is compiled. */
function memoryRow(
  name: string,
  { lines, kind, perSecond }: MemoryOptions,
): { line: string; fault: string | undefined } {
  const half = lines.slice(lines.length >> 1).map((line) => ({ at: line.at, value: line[kind] }));
  const slope = slopeOf(half);
  const per1000 = 1_000 / perSecond;
  const sure = slope.perUnit - slope.doubt;
  const inAll = sure * ((half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0));
  const limit = GROWTH_MAX_KB[kind];
  const [first, last] = [lines[0]?.[kind] ?? 0, lines.at(-1)?.[kind] ?? 0];
  return {
    line:
      `soak ${name} ${SHOWN[kind]}: ${slopeText(slope)}, from ${kb(first)} to ${
        kb(last)
      } (${half.length} samples); ` +
      `for 1,000 messages ${kb(slope.perUnit * per1000)} ± ${kb(slope.doubt * per1000)}`,
    fault: sure * per1000 > limit.per1000 && inAll > limit.inAll
      ? `${name}'s ${SHOWN[kind]} grows by at least ${kb(sure * per1000)} for 1,000 messages, over ${
        kb(limit.per1000)
      }`
      : undefined,
  };
}

const slopeText = ({ perUnit, doubt }: Slope): string =>
  `${Math.round(perUnit * HOUR_SECONDS)} ± ${Math.round(doubt * HOUR_SECONDS)} KiB/hour`;

const kb = (value: number): string => `${Math.round(value)} KiB`;
