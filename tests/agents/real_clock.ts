/** The injection's clock where a real agent is at the other end: the agent's own clock is real. */
import { until } from "../helpers/until.ts";

export const REAL_CLOCK = {
  now: Date.now,
  pause: async (ms: number): Promise<void> => {
    const end = Date.now() + ms;
    await until("the end of a pause", () => Date.now() >= end);
  },
};
