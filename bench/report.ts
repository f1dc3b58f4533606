/** Formats the figures as text and as JSON. */
import { RUNTIME } from "./bare.ts";
import type { Figures, Result } from "./measure.ts";

const figure = (value: number): string => value.toFixed(2).padStart(8);

function line(name: string, { min, median, p99, max }: Figures, unit: string): string {
  const values = `min ${figure(min)}  median ${figure(median)}  p99 ${figure(p99)}  max ${figure(max)}`;
  return `  ${name.padEnd(46)} ${values} ${unit}`;
}

export function resultText({ name, beside, aim, unit, samples, load, ...found }: Result): string {
  const { ours, theirs, ratio, missing } = found;
  const compared = ratio && `ratio ${ratio.median.toFixed(2)} at the median, ${ratio.p99.toFixed(2)} at p99`;
  return [
    `${name} (${samples} samples, load ${load.toFixed(1)})`,
    line(`svc on ${RUNTIME}`, ours, unit),
    theirs === undefined
      ? `  ${beside}: ${missing ?? "nothing to compare with"}`
      : line(beside, theirs, unit),
    `  ${compared ?? "no ratio"}; aim ${aim}\n`,
  ].join("\n");
}

export function resultsJson(results: readonly Result[]): string {
  const machine = {
    runtime: RUNTIME,
    cores: navigator.hardwareConcurrency,
    os: Deno.build.os,
    deno: Deno.version.deno,
  };
  return `${JSON.stringify({ machine, results }, null, 2)}\n`;
}
