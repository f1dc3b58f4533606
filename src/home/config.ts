/** `config.json`: its fields, and reading and writing it. */
import * as z from "zod/mini";
import { describeFaults } from "../protocol/faults.ts";
import type { Files } from "../runtime/types.ts";
import { jsonFault } from "./json_fault.ts";
import type { HomePaths } from "./paths.ts";

/** Every field may be missing; fields of other versions are kept. */
export const Config = z.looseObject({
  apiKey: z.optional(z.string()),
  /** Names this installation's hooks in every push they send. */
  hookId: z.optional(z.string().check(z.regex(/^hook_/, "an identifier with the prefix hook_"))),
  wsUrl: z.optional(z.string()),
  /** The relay's HTTP address, where it does not follow from `wsUrl`. */
  baseUrl: z.optional(z.string()),
  /** The name from which this host's device id is made, in place of the host's own: tells hosts of one name apart. */
  deviceName: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
  /** The weakest sealing that this host takes; without it `psk` from the first pairing on, and `off` before. */
  requireEncryption: z.optional(z.enum(["off", "base", "psk"])),
  /** Lets a message begin with `!`, which runs a shell command in some agents. */
  allowShellEscape: z.optional(z.boolean()),
  /**
   * What a phone may do in a permission dialog: nothing, reject it by Esc, or type into it. `true` means `once`.
   */
  allowRemoteApproval: z.optional(z.union([z.boolean(), z.enum(["none", "reject", "once", "always"])])),
  /** Types messages while the agent works, also where nothing holds back a dialog that opens meanwhile. */
  steer: z.optional(z.boolean()),
  /** Types into an agent's screen also where its profile does not recognise the composer. */
  allowUnknownScreens: z.optional(z.boolean()),
  /** Slash commands, without the slash, that phones may run beside those that change no approval. */
  allowCommands: z.optional(z.array(z.string())),
  /** Lets phones press the keys and run the slash commands that change how an agent asks for approval. */
  allowApprovalChange: z.optional(z.boolean()),
  /** Lets the phone start agents in known projects. */
  allowAgentStart: z.optional(z.boolean()),
});
export type Config = z.infer<typeof Config>;

/** `config.json` is not JSON, or a field has the wrong form. The message names file and place. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** The configuration; `{}` without the file. Throws ConfigError. */
export async function loadConfig(files: Pick<Files, "readText">, paths: HomePaths): Promise<Config> {
  const text = await files.readText(paths.config);
  return text === undefined ? {} : parseConfig(text, paths.config);
}

/** Sets these fields and keeps all others; whoever reads meanwhile sees the old or the new file. Throws ConfigError. */
export async function saveConfig(files: Files, paths: HomePaths, changes: Partial<Config>): Promise<Config> {
  const config = { ...await loadConfig(files, paths), ...changes };
  await files.makeDirectory(paths.root, { mode: 0o700 });
  await files.replaceText(paths.config, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  return config;
}

/** What this host is called at the relay: its device id is made from it. */
export function deviceNameOf({ deviceName }: Pick<Config, "deviceName">, hostname: string): string {
  return deviceName ?? hostname;
}

function parseConfig(text: string, path: string): Config {
  const fault = jsonFault(text);
  if (fault !== undefined) {
    throw new ConfigError(
      `Cannot read "${path}": line ${fault.line}, column ${fault.column} is not JSON. Mend it there.`,
    );
  }
  const parsed = Config.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new ConfigError(`Cannot use "${path}": ${describeFaults(parsed.error)}. Mend these fields.`);
}
