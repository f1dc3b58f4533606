/** Waits for a phone to claim a pairing code, and says in words what came of it. */
import { delay, systemClock } from "../async/clock.ts";
import { RelayError } from "../client/relay_error.ts";
import type { PendingPairing } from "../home/paired.ts";
import { completePairing, type PairingHost, type PairingOutcome } from "../home/pairing.ts";

const LOOK_MS = 1_000;

export type ClaimedOutcome = Exclude<PairingOutcome, { kind: "open" }>;

/** Undefined when the signal fired first. A relay that does not answer for a while is asked again. */
export async function awaitPhone(
  host: PairingHost,
  pairing: PendingPairing,
  { signal }: { signal?: AbortSignal } = {},
): Promise<ClaimedOutcome | undefined> {
  for (;;) {
    const outcome = await look(host, pairing);
    if (outcome.kind !== "open") return outcome;
    try {
      await delay(LOOK_MS, { clock: systemClock, signal });
    } catch {
      return undefined;
    }
  }
}

async function look(host: PairingHost, pairing: PendingPairing): Promise<PairingOutcome> {
  try {
    return await completePairing(host, pairing);
  } catch (error) {
    if (error instanceof RelayError && error.transient) return { kind: "open" };
    throw error;
  }
}

/** What the first pairing changes for everybody else. */
export const FLOOR_LINES: readonly string[] = [
  "From now on this host takes sealed messages only, unless requireEncryption in its config.json says otherwise.",
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
        `Other words? Then run: svc devices revoke ${outcome.phone.deviceId}`,
        ...FLOOR_LINES,
      ];
    case "joined":
      return [
        `Joined without sealing: ${outcome.name}. Its page has no cryptography: open the link over https.`,
      ];
    case "unproven":
      return [
        `Not paired: "${outcome.name}" claimed the code without its secret. If that was not you, run:`,
        `  svc devices revoke ${outcome.deviceId}`,
      ];
    case "ended":
      return ["Nobody claimed the code in its time. A new one: svc pair"];
    default:
      return outcome satisfies never;
  }
}
