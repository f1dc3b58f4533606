/** Reports the host's details with the inventory: sealed for the paired phones, and only when they have changed. */
import { encodeUtf8 } from "../../async/encodings.ts";
import { type PhoneKeys, sealForPhones } from "../../crypto/host_push.ts";
import { DETAILS_TYPE, type HostDetails, type ReportedDetails } from "../../protocol/host_details.ts";
import { HOST_DETAILS_MAX_BYTES } from "../../protocol/limits.ts";

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
  /** What they were made from. */
  digest: string;
}

export class DetailsReport {
  readonly #options: DetailsReportOptions;
  #sent: string | undefined;

  constructor(options: DetailsReportOptions) {
    this.#options = options;
  }

  /** Undefined if the relay has them. */
  async next(): Promise<DueDetails | undefined> {
    const { host, now } = this.#options;
    const [facts, phones] = await Promise.all([this.#options.facts(), this.#options.phones()]);
    const readers = phones.map(({ deviceId, publicKey }) => `${deviceId} ${publicKey}`).sort();
    const digest = JSON.stringify([facts, readers]);
    if (digest === this.#sent) return undefined;
    const details = fitting({ at: now(), ...facts });
    if (phones.length === 0) return { digest, reported: { plain: details } };
    const boundTo = { id: "", type: DETAILS_TYPE, agentSessionName: "", host };
    const sealedFor = await sealForPhones(JSON.stringify(details), { boundTo, phones });
    return { digest, reported: { sealedFor } };
  }

  sent({ digest }: DueDetails): void {
    this.#sent = digest;
  }

  /** The relay may not have them: they are due again. */
  forget(): void {
    this.#sent = undefined;
  }
}

/** Without the projects that were learned first, until the rest fits into a report. */
function fitting(details: HostDetails): HostDetails {
  if (encodeUtf8(JSON.stringify(details)).length <= HOST_DETAILS_MAX_BYTES) return details;
  const { start, ...rest } = details;
  if (start === undefined || start.projects.length === 0) return rest;
  const dropped = Math.ceil(start.projects.length / 10);
  return fitting({ ...rest, start: { ...start, projects: start.projects.slice(0, -dropped) } });
}
