/** `svc pair`: a one-time link that makes a phone a device of this account, and shares a secret with it. */
import { offerPairing } from "../home/paired_phones.ts";
import { awaitPhone, outcomeLines } from "./await_phone.ts";
import { defineCommand, parseWords } from "./command.ts";
import { accountPaths } from "./context.ts";
import { EXIT_FAILED } from "./exit.ts";
import { print, printJson } from "./output.ts";
import { pairingHost, pairingLink } from "./pairing_host.ts";
import { addressInputs, relayApi } from "./settings.ts";
import { qrLines } from "./up/qr.ts";
import { localName } from "./up/reach.ts";

interface PairWords {
  publicUrl?: string | undefined;
  json?: true | undefined;
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "pair",
    summary: "Pair one phone, once, within 10 minutes: print its link and QR code, and wait for it.",
    examples: ["svc pair", "svc pair --json", "svc pair --public-url https://relay.example"],
  })
    .option("--public-url <url>", "the address under which the phone reaches the relay")
    .option("--json", "print code, url and expiresAt as JSON, and do not wait");
  const words: PairWords = parseWords(command, args).opts();
  const paths = await accountPaths();
  const inputs = await addressInputs(paths);
  const api = relayApi(paths, inputs);
  const host = await pairingHost(paths, api);
  const pairing = await offerPairing(host);
  const { code, expiresAt } = pairing;
  const url = pairingLink(words.publicUrl ?? localName(api.baseUrl), pairing);
  if (words.json) {
    printJson({ code, url, expiresAt });
    return 0;
  }
  const until = new Date(expiresAt).toLocaleTimeString();
  print([...qrLines(url), "", url, `Valid until ${until}, for one phone. Waiting for it …`].join("\n"));
  const outcome = await awaitPhone(host, pairing);
  if (outcome !== undefined) print(["", ...outcomeLines(outcome)].join("\n"));
  return outcome?.kind === "paired" || outcome?.kind === "joined" ? 0 : EXIT_FAILED;
}
