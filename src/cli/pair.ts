/** `svc pair`: a one-time link that makes a phone a device of this account, and shares a secret with it. */
import { runtime } from "#runtime";
import { renderUnicodeCompact } from "uqr";
import { delay, systemClock } from "../async/clock.ts";
import type { RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import {
  completePairing,
  offerPairing,
  type PairingHost,
  type PairingOutcome,
  type PendingPairing,
  setDamagedAside,
} from "../home/pairing.ts";
import { absolutePath } from "../home/paths.ts";
import { pairScript } from "../home/script_pairing.ts";
import { PAIRING_TTL_SECONDS } from "../protocol/limits.ts";
import { shellLine } from "../runtime/system.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { EXIT_FAILED, inLine, print, printError, printJson } from "./output.ts";
import { localName, phoneAddress, readPublicUrl } from "./reach.ts";
import { addressInputs, pairingHost, relayApi } from "./settings.ts";

interface PairOptions {
  publicUrl?: string | undefined;
  json?: true | undefined;
  script?: string | undefined;
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "pair",
    summary:
      "Pair one phone: print a link and its QR code, which work once and for 10 minutes, and wait for the phone.",
    examples: ["svc pair", "svc pair --json", "svc pair --script ~/.ci-pairing.json"],
  })
    .option(
      "--public-url <url>",
      "the address at which the phone reaches the relay, if the relay does not know it",
    )
    .option(
      "--script <file>",
      "pair a script instead: write what svc send --as needs to a new file with mode 0600",
    )
    .option("--json", "print code, url and expiresAt as JSON, and do not wait");
  const options: PairOptions = parseOptions(command, args).opts();
  // Checked before a code is created, because a key may have only a few open.
  readPublicUrl(options.publicUrl);
  const paths = await accountPaths();
  const inputs = await addressInputs(paths);
  const api = relayApi(paths, inputs);
  const host = { ...await pairingHost(paths, api), api };
  const aside = await setDamagedAside(runtime.files, paths);
  if (aside !== undefined) {
    printError(`The paired phones could not be read, and are forgotten. The file as it was: "${aside}"`);
  }
  if (options.script !== undefined) return await pairWithScript(host, { ...options, script: options.script });
  const pairing = await offerPairing(host);
  const { code, expiresAt } = pairing;
  const addresses = { given: options.publicUrl, ofRelay: pairing.publicUrl };
  const url = pairingLink(phoneAddress(api.baseUrl, addresses), pairing);
  if (options.json) {
    printJson({ code, url, expiresAt });
    return 0;
  }
  print([qrText(url), "", url, `${LINK_LIFE} Waiting for it …`].join("\n"));
  const outcome = await awaitPhone(host, pairing);
  if (outcome !== undefined) print(["", ...outcomeLines(outcome)].join("\n"));
  return outcome?.kind === "paired" ? 0 : EXIT_FAILED;
}

async function pairWithScript(
  host: PairingHost & { api: RelayApi },
  { script, publicUrl, json }: PairOptions & { script: string },
): Promise<number> {
  const path = absolutePath(script, runtime.cwd());
  const name = `script ${path.slice(path.lastIndexOf("/") + 1)}`;
  const { deviceId } = await pairScript(host, {
    path,
    name,
    baseUrl: readPublicUrl(publicUrl) ?? localName(host.api.baseUrl),
  });
  if (json) {
    printJson({ file: path, deviceId });
    return 0;
  }
  const command = shellLine(["svc", "send", "--as", script]);
  const usage = `Paired: ${deviceId}. To send as this script: ${command} SESSION TEXT`;
  print([usage, ...SEALED_ONLY_LINES].join("\n"));
  return 0;
}

/** Code and secret are in the fragment, which browsers do not send. Short, so that its QR code fits a terminal. */
export function pairingLink(base: string, { code, secret }: PendingPairing): string {
  return `${base.replace(/\/+$/, "")}/#pair=${code}&s=${secret}`;
}

/** Given as a duration: a time of day would need a zone, and a phone's clock and this one's may differ. */
export const LINK_LIFE = `This link pairs one phone, once, within ${PAIRING_TTL_SECONDS / 60} minutes.`;

/** A QR code that fits a terminal of 80 × 24: lines of half blocks, each holding two rows of the code. */
export function qrLines(text: string): string[] {
  return renderUnicodeCompact(text, { ecc: "L", border: 1 }).split("\n");
}

/** The link's QR code. If the terminal is too narrow, an explanation instead: a code whose lines wrap cannot be scanned. */
export function qrText(url: string, { columns }: { columns: number } = runtime.terminal.size()): string {
  const lines = qrLines(url);
  const width = Math.max(...lines.map((line) => line.length));
  if (width <= columns) return lines.join("\n");
  return `The QR code needs ${width} columns, and this terminal has ${columns}. Open the link on the phone, or widen the terminal and run: svc pair`;
}

const POLL_MS = 1_000;

type ClaimedOutcome = Exclude<PairingOutcome, { kind: "open" }>;

/** Resolves when the code is claimed or has ended, with undefined when the signal fires. Retries transient failures. */
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
        `Paired: ${inLine(outcome.phone.name)}. It must show the same six words:`,
        "",
        `  ${outcome.words.join(" ")}`,
        "",
        `If it shows other words, run: svc devices revoke ${outcome.phone.deviceId}`,
        "They also differ when the relay's page and this svc are of different versions.",
        ...SEALED_ONLY_LINES,
      ];
    case "joined":
      return [
        `Joined without sealing: ${inLine(outcome.name)}, which did not prove the link's secret.`,
        "A browser cannot do that on a page without https, or with a part of the link. To pair it, run: svc pair, and open all of its link over https.",
      ];
    case "unproven":
      return [
        `Not paired: "${
          inLine(outcome.name)
        }" claimed the code without its secret. If that was not you, run:`,
        `  svc devices revoke ${outcome.deviceId}`,
      ];
    case "ended":
      return ["Nobody claimed the code in time. For a new one, run: svc pair"];
    default:
      return outcome satisfies never;
  }
}
