/** `svc pair`: a one-time link that makes a phone a device of this account. */
import { defineCommand, parseWords } from "./command.ts";
import { accountPaths } from "./context.ts";
import { print, printJson } from "./output.ts";
import { addressInputs, relayApi } from "./settings.ts";
import { resolveBaseUrl } from "../home/addresses.ts";
import { qrLines } from "./up/qr.ts";

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "pair",
    summary: "Print a link and a QR code that pair one phone, once, within 10 minutes.",
    examples: ["svc pair", "svc pair --json"],
  }).option("--json", "print code, url and expiresAt as JSON");
  const words: { json?: true | undefined } = parseWords(command, args).opts();
  const paths = await accountPaths();
  const inputs = await addressInputs(paths);
  const { code, expiresAt } = await relayApi(paths, inputs).createPairing();
  const url = `${resolveBaseUrl(inputs) ?? ""}/#pair=${code}`;
  if (words.json) printJson({ code, url, expiresAt });
  else {print(
      [...qrLines(url), "", url, `Valid until ${new Date(expiresAt).toLocaleTimeString()}, for one phone.`]
        .join("\n"),
    );}
  return 0;
}
