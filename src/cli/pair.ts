/** `svc pair`: a one-time link that makes a phone a device of this account, and shares a secret with it. */
import { runtime } from "#runtime";
import type { RelayApi } from "../client/api.ts";
import { offerPairing, type PairingHost } from "../home/pairing.ts";
import { absolutePath } from "../home/paths.ts";
import { pairScript } from "../home/script_pairing.ts";
import { awaitPhone, outcomeLines, pairingLink, qrLines, SEALED_ONLY_LINES } from "./pairing.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { EXIT_FAILED } from "./exit.ts";
import { print, printJson } from "./output.ts";
import { addressInputs, pairingHost, relayApi } from "./settings.ts";
import { localName } from "./up/reach.ts";

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
    .option("--public-url <url>", "the address at which the phone reaches the relay")
    .option(
      "--script <file>",
      "pair a script instead: write what svc send --as needs to a new file with mode 0600",
    )
    .option("--json", "print code, url and expiresAt as JSON, and do not wait");
  const options: PairOptions = parseOptions(command, args).opts();
  const paths = await accountPaths();
  const inputs = await addressInputs(paths);
  const api = relayApi(paths, inputs);
  const host = { ...await pairingHost(paths, api), api };
  if (options.script !== undefined) return await pairWithScript(host, { ...options, script: options.script });
  const pairing = await offerPairing(host);
  const { code, expiresAt } = pairing;
  const url = pairingLink(options.publicUrl ?? localName(api.baseUrl), pairing);
  if (options.json) {
    printJson({ code, url, expiresAt });
    return 0;
  }
  const until = new Date(expiresAt).toLocaleTimeString();
  print([...qrLines(url), "", url, `Valid until ${until}, for one phone. Waiting for it …`].join("\n"));
  const outcome = await awaitPhone(host, pairing);
  if (outcome !== undefined) print(["", ...outcomeLines(outcome)].join("\n"));
  return outcome?.kind === "paired" || outcome?.kind === "joined" ? 0 : EXIT_FAILED;
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
    baseUrl: publicUrl ?? localName(host.api.baseUrl),
  });
  if (json) {
    printJson({ file: path, deviceId });
    return 0;
  }
  const usage = `Paired: ${deviceId}. To send as this script: svc send --as ${script} SESSION TEXT`;
  print([usage, ...SEALED_ONLY_LINES].join("\n"));
  return 0;
}
