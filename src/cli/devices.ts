/** `svc devices`: lists the account's listeners and phones, revokes one, or releases its id. */
import { runtime } from "#runtime";
import { askDaemon } from "../home/control_socket.ts";
import { forgetClaim, forgetPhone, loadPaired, type PairedPhone } from "../home/pairing.ts";
import type { HomePaths } from "../home/paths.ts";
import { RelayError } from "../client/relay_error.ts";
import { type AddressInputs, hostApiKey, scriptApiKey } from "../home/config.ts";
import type { RelayApi } from "../client/api.ts";
import type { Device, DeviceRevoked } from "../protocol/http.ts";
import { DEFAULT_ACCOUNT, findKey } from "../relay/api_keys.ts";
import { shellLine } from "../runtime/system.ts";
import { hasStore, openRelayStore } from "../store/open.ts";
import type { DeviceName, Store } from "../store/store.ts";
import { addressInputs, dataDirectory, pairingHost, relayApi, scriptApi } from "./settings.ts";
import { type CommandText, defineCommand, parseOptions, runSubcommand } from "./command.ts";
import { accountPaths } from "./context.ts";
import { checkData } from "./keys.ts";
import { columns, duration, inLine, paint, print, printJson } from "./output.ts";

const DAEMON_LIMIT_MS = 2_000;
const DATA_HELP =
  "the folder of a relay on this machine, which is changed directly, without a key (default: server in ~/.svc)";

/** As `--json` prints it. */
interface ListedDevice extends Device {
  paired: boolean;
  /** The relay lists it. A device that is not listed may still share a secret with this host. */
  listed: boolean;
}

const DEVICES: CommandText = {
  name: "devices",
  summary:
    "List the account's listeners and phones. svc devices revoke ID locks one out; release ID frees its id for another key.",
  examples: [
    "svc devices",
    "svc devices --json",
    "svc devices revoke dev_phone_1a2b3c4d5e6f",
    "svc devices release dev_listener_1a2b3c4d",
  ],
};

export async function run(args: readonly string[]): Promise<number> {
  return await runSubcommand(args, { ...DEVICES, subcommands: { revoke, release }, otherwise: list });
}

async function list(args: readonly string[]): Promise<number> {
  const command = defineCommand(DEVICES)
    .option("--json", "print a JSON array")
    .option("--all", "include scripts that are not paired: what svc verify and svc mcp connect as");
  const options = parseOptions(command, args).opts();
  const paths = await accountPaths();
  const known = await listedDevices(paths);
  const devices = options.all ? known : known.filter(({ kind, paired }) => kind !== "script" || paired);
  if (options.json) printJson(devices);
  else for (const line of table(devices, Date.now())) print(line);
  return 0;
}

async function listedDevices(paths: HomePaths): Promise<ListedDevice[]> {
  const { devices } = await relayApi(paths, await addressInputs(paths)).devices();
  const { phones } = await loadPaired(runtime.files, paths);
  return withUnlisted(devices, phones);
}

/** Adds phones that share a secret with this host but are not listed: the relay lies, or another host revoked them. */
export function withUnlisted(devices: readonly Device[], phones: readonly PairedPhone[]): ListedDevice[] {
  const paired = new Map(phones.map((phone) => [phone.deviceId, phone]));
  const known = new Set(devices.map(({ id }) => id));
  const unlisted = phones.filter(({ deviceId }) => !known.has(deviceId));
  return [
    ...devices.map((device) => {
      const phone = paired.get(device.id);
      const kind = phone === undefined ? device.kind : kindOf(phone);
      return { ...device, kind, paired: phone !== undefined, listed: true };
    }),
    ...unlisted.map((phone) => {
      const { deviceId: id, name, pairedAt } = phone;
      const times = { createdAt: pairedAt, lastSeen: pairedAt };
      return {
        id,
        kind: kindOf(phone),
        name,
        version: "",
        online: false,
        ...times,
        paired: true,
        listed: false,
      };
    }),
  ];
}

const kindOf = ({ script }: PairedPhone): "script" | "phone" => script === true ? "script" : "phone";

function table(devices: readonly ListedDevice[], now: number): string[] {
  if (devices.length === 0) return ["No devices yet. Pair a phone with: svc pair"];
  const [head = "", ...lines] = columns([
    ["NAME", "KIND", "LAST SEEN", "PAIRED HERE", "ID"],
    ...devices.map(({ name, kind, online, lastSeen, paired, listed, id }) => [
      name,
      kind,
      online ? "online" : listed ? `${duration(now - lastSeen)} ago` : "not at the relay",
      paired ? "yes" : "-",
      id,
    ]),
  ]);
  return [paint(head, "bold"), ...lines];
}

/** Forgets the secret first, so that this works even when the relay cannot be reached. */
async function revoke(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "devices revoke",
    summary: "Lock a device out: its key stops working, its sockets are closed, its secret is forgotten.",
    examples: ["svc devices revoke dev_phone_1a2b3c4d5e6f"],
  }).argument("<id>", "the device's id, as in svc devices").option("--data <dir>", DATA_HELP);
  const parsed = parseOptions(command, args);
  const [id] = parsed.processedArgs;
  const paths = await accountPaths();
  const api = relayApi(paths, await addressInputs(paths));
  const isForgotten = await forgetSecrets(paths, { host: await pairingHost(paths, api), id });
  let workingKey: DeviceRevoked["workingKey"] | undefined;
  let isKnown = true;
  await asAdmin(paths, { ...parsed.opts(), id }, {
    async byRelay(api) {
      try {
        ({ workingKey } = await api.revokeDevice(id));
      } catch (error) {
        isKnown = !(error instanceof RelayError) || error.code !== "unknown_device";
        if (isKnown || !isForgotten) throw error;
      }
    },
    async inStore(store, device) {
      const revoked = await store.revokeDevice(device, Date.now());
      workingKey = revoked?.workingKey === undefined
        ? undefined
        : await store.findKeyById(revoked.workingKey);
      isKnown = revoked !== undefined;
      return isKnown || isForgotten;
    },
  });
  if (!isKnown) {
    print(`The relay has no device ${id}: there is nothing more to revoke.`);
    return 0;
  }
  if (workingKey === undefined) {
    print(`Revoked ${id}: its key no longer works, and its connections are closed.`);
    return 0;
  }
  print(`Revoked ${id}: its connections are closed.`);
  const { id: key, name } = workingKey;
  print(`Its key "${inLine(name)}" still works, as other devices use it too.`);
  const lockOut = shellLine(["svc", "keys", "revoke", key]);
  print(`To lock all of them out, and the phones that were paired by it: ${lockOut}`);
  return 0;
}

/** Forgets the stored secret, then asks the relay, which may not answer, for one claimed just now. False if none. */
async function forgetSecrets(
  paths: HomePaths,
  { host, id }: { host: Awaited<ReturnType<typeof pairingHost>>; id: string },
): Promise<boolean> {
  let found = false;
  for (const forget of [forgetPhone, forgetClaim]) {
    const isForgotten = await forget(host, id);
    await endStreams(paths, id);
    if (!isForgotten) continue;
    found = true;
    print(`Forgot the secret shared with ${id}: messages sealed by it are no longer opened.`);
  }
  return found;
}

async function release(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "devices release",
    summary:
      "Free a device's id for the next key that connects with it: after a change of keys, or when another key has taken it.",
    examples: ["svc devices release dev_listener_1a2b3c4d"],
  }).argument("<id>", "the device's id, as in svc devices").option("--data <dir>", DATA_HELP);
  const parsed = parseOptions(command, args);
  const [id] = parsed.processedArgs;
  const paths = await accountPaths();
  await asAdmin(paths, { ...parsed.opts(), id }, {
    byRelay: (api) => api.releaseDevice(id),
    inStore: (store, device) => store.releaseDevice(device),
  });
  print(`Released ${id}: the next key that connects with it owns it.`);
  return 0;
}

interface AdminWork {
  byRelay(api: RelayApi): Promise<void>;
  /** False when there is no such device. */
  inStore(store: Store, device: DeviceName): Promise<boolean>;
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof RelayError && codes.includes(error.code);
}

/**
 * Asks with this host's key and, if the relay refuses that, with the one in `SVC_API_KEY`, which may have the scope
 * `admin`. Throws the host key's error, unless the other key got further.
 */
async function askRelay(paths: HomePaths, inputs: AddressInputs, ask: AdminWork["byRelay"]): Promise<void> {
  const refusals = ["missing_scope", "unauthenticated"];
  try {
    return await ask(relayApi(paths, inputs));
  } catch (error) {
    const isOnly = scriptApiKey(inputs) === hostApiKey(inputs)?.key;
    if (isOnly || !hasCode(error, ...refusals)) throw error;
    await ask(scriptApi(paths, inputs)).catch((other) => {
      throw hasCode(other, ...refusals, "unknown_device") ? error : other;
    });
  }
}

/** The account of the first key that the relay knows: `SVC_API_KEY` may be for an account other than this host's. */
async function accountIn(store: Store, inputs: AddressInputs): Promise<string | undefined> {
  for (const apiKey of [scriptApiKey(inputs), hostApiKey(inputs)?.key]) {
    const key = apiKey === undefined ? undefined : await findKey(store, apiKey);
    if (key !== undefined) return key.account;
  }
  return undefined;
}

/** Makes a change that needs `admin`, which this host's key lacks: at the relay, or in a store on this machine. */
async function asAdmin(
  paths: HomePaths,
  { id, data }: { id: string; data?: string | undefined },
  { byRelay, inStore }: AdminWork,
): Promise<void> {
  await checkData({ data });
  const dataDir = await dataDirectory({ data });
  const inputs = await addressInputs(paths);
  try {
    if (data === undefined) return await askRelay(paths, inputs, byRelay);
  } catch (error) {
    if (!hasCode(error, "missing_scope") || !await hasStore(dataDir)) throw error;
  }
  const store = await openRelayStore(dataDir);
  try {
    const known = await accountIn(store, inputs);
    const account = known ?? DEFAULT_ACCOUNT;
    if (known === undefined && data === undefined) {
      throw new Error(
        `Cannot change the device "${id}": the key of this host lacks the scope admin, and "${dataDir}" is another relay's store`,
      );
    }
    if (!await inStore(store, { account, id })) {
      throw new Error(
        `Cannot change the device "${id}": the account "${account}" in "${dataDir}" has no device that this applies to. See: svc devices`,
      );
    }
  } finally {
    await store.close();
  }
}

/** Ends the phone's streams, which a dishonest relay would leave open. A listener that is not running has none. */
async function endStreams({ socket }: HomePaths, phone: string): Promise<void> {
  const { sockets } = runtime;
  await askDaemon({ sockets, path: socket }, { op: "forget", phone }, { timeoutMs: DAEMON_LIMIT_MS });
}
