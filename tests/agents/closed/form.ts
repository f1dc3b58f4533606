/** How long and on how many sizes the attacks run: short by default, longer by the variables that `deno task test:closed` sets. */
import { REAL_AGENTS, type RealAgent } from "../install.ts";

export interface Size {
  cols: number;
  rows: number;
}

/** A phone held upright, a plain terminal, and a large one. */
const SIZES = ["42x14", "80x24", "200x50"];
const KINDS = Object.keys(REAL_AGENTS) as RealAgent[];

/** The variables, each with its short value. */
export const FORM = {
  SVC_CLOSED_TRIES: "20",
  SVC_CLOSED_MINUTES: "1",
  SVC_CARD_ROUNDS: "20",
  SVC_CLOSED_BUSY: "4",
  SVC_CLOSED_AGENTS: KINDS.join(","),
  SVC_CLOSED_SIZES: SIZES.join(","),
  SVC_CLOSED_HOOKS: "with,without",
  /** Empty: each run picks a random seed and prints it. */
  SVC_CLOSED_SEED: "",
} as const;
export type FormVariable = keyof typeof FORM;

function valueOf(name: FormVariable): string {
  return Deno.env.get(name) || FORM[name];
}

function numberOf(name: FormVariable): number {
  const value = Number(valueOf(name));
  if (!Number.isFinite(value) || value < 0) {
    throw new TypeError(`cannot read ${name}="${valueOf(name)}": a number is needed`);
  }
  return value;
}

export const tries = (): number => numberOf("SVC_CLOSED_TRIES");
/** How many dialogs a phone answers while something happens to them. */
export const cardRounds = (): number => numberOf("SVC_CARD_ROUNDS");
export const minutes = (): number => numberOf("SVC_CLOSED_MINUTES");
/** How many busy loops run during the race. */
export const busyLoops = (): number => numberOf("SVC_CLOSED_BUSY");

export function agents(): RealAgent[] {
  const named = valueOf("SVC_CLOSED_AGENTS").split(",");
  return KINDS.filter((kind) => named.includes(kind));
}

export function sizes(): Size[] {
  return valueOf("SVC_CLOSED_SIZES").split(",").map((size) => {
    const [cols = 0, rows = 0] = size.split("x").map(Number);
    return { cols, rows };
  });
}

/** Whether `svc setup` registers its hooks: one entry for each requested form. */
export function hookForms(): boolean[] {
  const named = valueOf("SVC_CLOSED_HOOKS").split(",");
  return [true, false].filter((hooks) => named.includes(hooks ? "with" : "without"));
}

/** Returns the requested seed, else a new one. */
export function seed(): number {
  const asked = valueOf("SVC_CLOSED_SEED");
  return asked === "" ? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0 : Number(asked) >>> 0;
}
