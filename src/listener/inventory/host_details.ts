/** Reports the host's details with the inventory: sealed for the paired phones, and only when they have changed. */
import { encodeUtf8 } from "../../async/encodings.ts";
import { type PhoneKeys, sealForPhones } from "../../crypto/host_push.ts";
import { DETAILS_TYPE, type HostDetails, type ReportedDetails } from "../../protocol/host_details.ts";
import { HOST_DETAILS_MAX_BYTES } from "../../protocol/limits.ts";

/** The least time between two reports of nothing but new lines. */
export const LINES_GAP_MS = 3_000;

export type DetailFacts = Omit<HostDetails, "at">;

export interface DetailsReportOptions {
  /** The listener's device id. */
  host: string;
  facts(): Promise<DetailFacts>;
  /** The paired phones. Throws if they cannot be read: nothing is sent plain by mistake. */
  phones(): Promise<PhoneKeys[]>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Details that are due, until it is known that they were sent. */
export interface DueDetails {
  reported: ReportedDetails;
  /** What they were made from: the lines, and the rest. */
  digest: string;
  lines: string;
  /** Epoch milliseconds. */
  at: number;
}

export class DetailsReport {
  readonly #options: DetailsReportOptions;
  #sent: { digest: string; lines: string; at: number } | undefined;

  constructor(options: DetailsReportOptions) {
    this.#options = options;
  }

  /** Undefined if the relay has them, or only lines have changed and it is too early for that. */
  async next(): Promise<DueDetails | undefined> {
    const { host, now } = this.#options;
    const [{ lines, ...facts }, phones] = await Promise.all([
      this.#options.facts(),
      this.#options.phones(),
    ]);
    // The relay must not read what is on a screen.
    const sealed = phones.length > 0 && lines !== undefined ? { lines } : {};
    const readers = phones.map(({ deviceId, publicKey }) => `${deviceId} ${publicKey}`).sort();
    const due = { digest: JSON.stringify([facts, readers]), lines: JSON.stringify(sealed), at: now() };
    if (!this.#isDue(due)) return undefined;
    const details = fitting({ at: due.at, ...facts, ...sealed });
    if (phones.length === 0) return { ...due, reported: { plain: details } };
    const boundTo = { id: "", type: DETAILS_TYPE, agentSessionName: "", host };
    const sealedFor = await sealForPhones(JSON.stringify(details), { boundTo, phones });
    return { ...due, reported: { sealedFor } };
  }

  #isDue({ digest, lines, at }: Omit<DueDetails, "reported">): boolean {
    if (this.#sent === undefined || this.#sent.digest !== digest) return true;
    return this.#sent.lines !== lines && at - this.#sent.at >= LINES_GAP_MS;
  }

  sent({ digest, lines, at }: DueDetails): void {
    this.#sent = { digest, lines, at };
  }

  /** The relay may not have them: they are due again. */
  forget(): void {
    this.#sent = undefined;
  }
}

/** Without the last lines, then the projects that were learned first, then muted ones, until the rest fits into a report. */
function fitting(details: HostDetails): HostDetails {
  if (encodeUtf8(JSON.stringify(details)).length <= HOST_DETAILS_MAX_BYTES) return details;
  const lines = Object.entries(details.lines ?? {});
  if (lines.length > 0) {
    return fitting({ ...details, lines: Object.fromEntries(shorter(lines)) });
  }
  const { start, muted = [], ...rest } = details;
  if (start !== undefined && start.projects.length > 0) {
    return fitting({ ...details, start: { ...start, projects: shorter(start.projects) } });
  }
  return muted.length === 0 ? rest : fitting({ ...details, muted: shorter(muted) });
}

function shorter<T>(list: readonly T[]): T[] {
  return list.slice(0, -Math.ceil(list.length / 10));
}
