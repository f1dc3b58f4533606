/** The form of a check of `svc verify`: a name, and a finding with its fix. */
import type { AddressInputs } from "../../home/config.ts";
import type { HomePaths } from "../../home/paths.ts";

export type Mark = "ok" | "warning" | "fault";

export interface Finding {
  mark: Mark;
  /** What was found, in one line. */
  finding: string;
  /** What to do, in one line; required unless the mark is ok. */
  fix?: string;
}

export interface CheckContext {
  paths: HomePaths;
  /** Undefined when the configuration could not be read. */
  inputs: AddressInputs | undefined;
}

export interface Check {
  name: string;
  run(context: CheckContext): Promise<Finding>;
}

export const ok = (finding: string): Finding => ({ mark: "ok", finding });
export const warning = (finding: string, fix: string): Finding => ({ mark: "warning", finding, fix });
export const fault = (finding: string, fix: string): Finding => ({ mark: "fault", finding, fix });

/** The finding of a check that needs the configuration when it cannot be read. */
export const NO_CONFIG = fault("not checked: config.json cannot be read", "fix the configuration first");
