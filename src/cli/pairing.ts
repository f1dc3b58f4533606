/** Shows a pairing code as a link and a QR code, waits for a phone to claim it, and reports the outcome. */
import { renderUnicodeCompact } from "uqr";
import { delay, systemClock } from "../async/clock.ts";
import { RelayError } from "../client/relay_error.ts";
import type { PendingPairing } from "../home/paired.ts";
import { completePairing, type PairingHost, type PairingOutcome } from "../home/pairing.ts";

/** Code and secret are in the fragment, which no browser sends to a server. Short, so that its QR code fits a terminal. */
export function pairingLink(base: string, { code, secret }: PendingPairing): string {
  return `${base.replace(/\/+$/, "")}/#pair=${code}&s=${secret}`;
}

/** A QR code that fits a terminal of 80 × 24: lines of half blocks, each holding two rows of the code. */
export function qrLines(text: string): string[] {
  return renderUnicodeCompact(text, { ecc: "L", border: 1 }).split("\n");
}

const POLL_MS = 1_000;

type ClaimedOutcome = Exclude<PairingOutcome, { kind: "open" }>;

/** Undefined when the signal fired first. A relay that does not answer for a while is asked again. */
export async function awaitPhone(
  host: PairingHost,
  pairing: PendingPairing,
  { signal }: { signal?: AbortSignal } = {},
): Promise<ClaimedOutcome | undefined> {
  for (;;) {
    const outcome = await poll(host, pairing);
    if (outcome.kind !== "open") return outcome;
    try {
      await delay(POLL_MS, { clock: systemClock, signal });
    } catch {
      return undefined;
    }
  }
}

async function poll(host: PairingHost, pairing: PendingPairing): Promise<PairingOutcome> {
  try {
    return await completePairing(host, pairing);
  } catch (error) {
    if (error instanceof RelayError && error.transient) return { kind: "open" };
    throw error;
  }
}

/** What the first pairing changes for every other sender. */
export const SEALED_ONLY_LINES: readonly string[] = [
  "From now on this host accepts sealed messages only, unless requireEncryption in its config.json says otherwise.",
  "Scripts elsewhere: svc pair --script FILE, then svc send --as FILE. On this host svc send seals by itself.",
];

export function outcomeLines(outcome: ClaimedOutcome): string[] {
  switch (outcome.kind) {
    case "paired":
      return [
        `Paired: ${outcome.phone.name}. It must show the same six words:`,
        "",
        `  ${outcome.words.join(" ")}`,
        "",
        `If it shows other words, run: svc devices revoke ${outcome.phone.deviceId}`,
        ...SEALED_ONLY_LINES,
      ];
    case "joined":
      return [
        `Joined without sealing: ${outcome.name}. The browser offers no cryptography on this page: open the link over https.`,
      ];
    case "unproven":
      return [
        `Not paired: "${outcome.name}" claimed the code without its secret. If that was not you, run:`,
        `  svc devices revoke ${outcome.deviceId}`,
      ];
    case "ended":
      return ["Nobody claimed the code in time. For a new one, run: svc pair"];
    default:
      return outcome satisfies never;
  }
}
